"""All mutants of a file in one text, each behind a switch that a test run sets.

Start at File.source(). Invariant: a mutant counts as placed only where its switch stands in the text.
"""

import re

import tree_sitter
import tree_sitter_rust

# What the switches call; it goes to the end of the library.
SWITCH = """
#[doc(hidden)]
pub mod mutant {
    static ACTIVE: std::sync::LazyLock<u32> =
        std::sync::LazyLock::new(|| std::env::var("MUTANT").ok().and_then(|id| id.parse().ok()).unwrap_or(0));
    pub fn is(id: u32) -> bool { *ACTIVE == id }
    pub fn and(id: u32, a: bool, b: impl FnOnce() -> bool) -> bool { if is(id) { a || b() } else { a && b() } }
    pub fn or(id: u32, a: bool, b: impl FnOnce() -> bool) -> bool { if is(id) { a && b() } else { a || b() } }
}
"""
PARSER = tree_sitter.Parser(tree_sitter.Language(tree_sitter_rust.language()))


class File:
    """One source file with its mutants; `source()` is the file with all of them behind their switch."""

    def __init__(self, content, mutants):
        self.bytes = content
        self.placed = set()
        lines = self.bytes.decode().split("\n")
        starts = [0]
        for line in lines:
            starts.append(starts[-1] + len(line.encode()) + 1)
        self.at = {}
        self.functions = []
        for mutant in mutants:
            span = mutant["span"]
            start, end = (
                starts[point["line"] - 1] + len(lines[point["line"] - 1][: point["column"] - 1].encode())
                for point in (span["start"], span["end"])
            )
            if mutant["genre"] == "FnValue":
                self.functions.append((start, end, mutant))
            else:
                self.at.setdefault((mutant["genre"], start), []).append(mutant)

    def source(self):
        root = PARSER.parse(self.bytes).root_node
        return self.text(0, root.start_byte) + self.render(root) + self.text(root.end_byte, len(self.bytes))

    def text(self, start, end):
        return self.bytes[start:end].decode()

    def found(self, genre, start):
        return self.at.get((genre, start), [])

    def switch(self, mutant):
        self.placed.add(mutant["id"])
        return f"crate::mutant::is({mutant['id']})"

    def children(self, node, start=None):
        out, position = "", node.start_byte if start is None else start
        for child in node.children:
            if child.start_byte >= position:
                out += self.text(position, child.start_byte) + self.render(child)
                position = child.end_byte
        return out + self.text(position, node.end_byte)

    def render(self, node):
        if node.type == "token_tree" or not node.children:
            return self.text(node.start_byte, node.end_byte)
        special = {
            "binary_expression": self.binary,
            "compound_assignment_expr": self.assignment,
            "unary_expression": self.unary,
            "match_arm": self.arm,
            "struct_expression": self.structure,
            "function_item": self.function,
        }.get(node.type)
        return (special and special(node)) or self.children(node)

    def sides(self, node):
        operator = node.child_by_field_name("operator")
        sides = [self.render(node.child_by_field_name(side)) for side in ("left", "right")]
        return (*sides, self.text(operator.start_byte, operator.end_byte), self.found("BinaryOperator", operator.start_byte))

    def binary(self, node):
        left, right, operator, mutants = self.sides(node)
        if not mutants:
            return None
        if operator in ("&&", "||"):
            self.placed.add(mutants[0]["id"])
            name = "and" if operator == "&&" else "or"
            return f"crate::mutant::{name}({mutants[0]['id']}, {left}, || {right})"
        other = "".join(f"if {self.switch(m)} {{ ({left}) {m['text']} ({right}) }} else " for m in mutants)
        return f"({other}{{ ({left}) {operator} ({right}) }})"

    def assignment(self, node):
        left, right, operator, mutants = self.sides(node)
        other = "".join(f"if {self.switch(m)} {{ {left} {m['text']} {right}; }} else " for m in mutants)
        return f"{other}{{ {left} {operator} {right}; }}" if mutants else None

    def unary(self, node):
        mutants = self.found("UnaryOperator", node.start_byte)
        return f"({self.switch(mutants[0])} ^ {self.children(node)})" if mutants else None

    def arm(self, node):
        pattern = node.child_by_field_name("pattern")
        guard = pattern.child_by_field_name("condition")
        gone = self.found("MatchArm", node.start_byte)
        fixed = self.found("MatchArmGuard", guard.start_byte) if guard else []
        if not gone and not fixed:
            return None
        head = self.text(node.start_byte, guard.start_byte if guard else pattern.end_byte).rstrip()
        head = head.removesuffix("if").rstrip() if guard else head
        condition = self.render(guard) if guard else "true"
        for mutant in fixed:
            true = "with true" in mutant["name"]
            switch = self.switch(mutant)
            condition = f"({switch} || ({condition}))" if true else f"(!{switch} && ({condition}))"
        for mutant in gone:
            condition = f"!{self.switch(mutant)} && ({condition})"
        return f"{head} if {condition}{self.children(node, pattern.end_byte)}"

    def structure(self, node):
        out = self.children(node)
        whole = out
        for field in node.child_by_field_name("body").children:
            for mutant in self.found("StructField", field.start_byte):
                end = re.compile(rb"\s*,?").match(self.bytes, field.end_byte).end()
                without = self.text(node.start_byte, field.start_byte) + self.text(end, node.end_byte)
                out = f"if {self.switch(mutant)} {{ {without} }} else {{ {out} }}"
        return f"({out})" if out != whole else None

    def function(self, node):
        body = node.child_by_field_name("body")
        mine = [m for start, end, m in self.functions if body.start_byte <= start and end <= body.end_byte]
        # An iterator's replacement has another type than the body: only `cargo mutants` itself can try it.
        mine = [m for m in mine if "impl Iterator" not in m["name"]]
        if not mine:
            return None
        early = "".join(f"\nif {self.switch(m)} {{ return {m['text']}; }}\n" for m in mine)
        return self.text(node.start_byte, body.start_byte) + "{" + early + self.render(body)[1:]
