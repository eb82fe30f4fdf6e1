//! What came of a message, for the exit code. Start at [`Calls::came`]. Invariant: a call that was only
//! written wrongly and then mended leaves nothing undone; one that was refused does.

use sdk::ToolResult;
use serde_json::Value;

/// What came of one message.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Came {
    Done,
    /// Asked, refused, not understood, stopped.
    NotDone,
}

/// The calls of one turn.
#[derive(Default)]
pub struct Calls {
    refused: bool,
    /// Written in a way that nobody could follow; the next one that works makes up for it.
    misused: bool,
}

/// What a model can mend by writing the call anew.
const MENDABLE: [&str; 5] = ["bad_arguments", "no_such_tool", "bad_request", "ambiguous", "not_found"];

impl Calls {
    pub fn note(&mut self, result: &ToolResult) {
        let code = |key: &str| result.result.get(key).and_then(Value::as_str);
        let mendable = ["code", "error"].iter().filter_map(|key| code(key)).any(|code| MENDABLE.contains(&code));
        match (result.success, mendable) {
            (true, _) => self.misused = false,
            (false, true) => self.misused = true,
            (false, false) => self.refused = true,
        }
    }

    pub fn came(&self, answered: bool) -> Came {
        if answered && !self.refused && !self.misused { Came::Done } else { Came::NotDone }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[track_caller]
    fn check(results: &[(bool, &str)], wanted: Came) {
        let mut calls = Calls::default();
        for (success, code) in results {
            let result = json!({"isError": !success, "code": code, "error": code});
            calls.note(&ToolResult { success: *success, result, ..ToolResult::default() });
        }
        assert_eq!(calls.came(true), wanted, "{results:?}");
        assert_eq!(calls.came(false), Came::NotDone);
    }

    #[test]
    fn a_call_that_was_mended_is_done_and_a_refused_one_is_not() {
        check(&[], Came::Done);
        check(&[(true, "")], Came::Done);
        check(&[(false, "bad_arguments"), (true, "")], Came::Done);
        check(&[(false, "ambiguous")], Came::NotDone);
        check(&[(true, ""), (false, "not_found")], Came::NotDone);
        check(&[(false, "needs_confirmation"), (true, "")], Came::NotDone);
    }
}
