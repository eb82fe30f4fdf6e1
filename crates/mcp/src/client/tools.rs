//! Foreign tools as a model calls them. Start at [`offered`]. Invariant: whether a tool may run is decided at
//! every call anew, by what holds then.

use std::sync::Arc;

use decide::text::clean;
use rmcp::model::{CallToolRequestParams, CallToolResponse};
use sdk::{Failure, FailureKind, ToolDef, ToolHandler, ToolScope, tool_handler};
use serde_json::{Map, Value};
use tokio::time::timeout;

use super::link::{Listed, Shared};
use super::{Asked, Class, FOREIGN_CALL_MAX, result};

/// A call with longer arguments, as JSON, is refused.
const ARGUMENT_BYTES_MAX: usize = 256 * 1024;

pub(super) fn offered(shared: &Arc<Shared>) -> Vec<(ToolDef, ToolHandler)> {
    let now = shared.now();
    let server = &shared.server.name;
    let offered =
        now.tools.iter().filter(|listed| listed.left_out.is_none() && class(shared, server, listed) != Class::Refuse);
    offered.map(|listed| (definition(listed), handler(shared.clone(), listed))).collect()
}

fn class(shared: &Shared, server: &str, listed: &Listed) -> Class {
    (shared.classes)(&Asked { server, tool: &listed.foreign, digest: &listed.digest, said: &listed.said })
}

fn definition(listed: &Listed) -> ToolDef {
    ToolDef {
        name: listed.name.clone(),
        description: listed.description.clone(),
        parameters: listed.parameters.clone(),
        // What the server says of it would be believed otherwise.
        read_only: false,
        untrusted: true,
        deadline_ms: u64::try_from(FOREIGN_CALL_MAX.as_millis()).unwrap_or(u64::MAX) + 5000,
        ..ToolDef::default()
    }
}

fn handler(shared: Arc<Shared>, listed: &Listed) -> ToolHandler {
    let foreign: Arc<str> = listed.foreign.as_str().into();
    tool_handler(move |arguments, scope| {
        let (shared, foreign) = (shared.clone(), foreign.clone());
        async move { call(&shared, &foreign, arguments, &scope).await }
    })
}

async fn call(
    shared: &Shared,
    foreign: &str,
    arguments: Map<String, Value>,
    scope: &ToolScope,
) -> Result<Value, Failure> {
    may_run(shared, foreign, &arguments, scope)?;
    let server = clean(&shared.server.name, 40);
    let now = shared.now();
    let Some(peer) = now.peer else {
        let why = now.error.unwrap_or_else(|| "it is still starting".to_owned());
        return Err(Failure::new(FailureKind::Unavailable, format!("the server {server} is not there: {why}")));
    };
    let request = CallToolRequestParams::new(foreign.to_owned()).with_arguments(arguments);
    // Dropped at the deadline or with the turn, it tells the server that nobody waits any more.
    let answer = match timeout(FOREIGN_CALL_MAX, peer.call_tool_once(request)).await {
        Ok(answer) => answer,
        Err(_) => {
            let seconds = FOREIGN_CALL_MAX.as_secs();
            let late = format!("the server {server} did not answer within {seconds} s: what it did is not known");
            return Err(Failure::new(FailureKind::Timeout, late));
        }
    };
    match answer {
        Ok(CallToolResponse::Complete(done)) => Ok(result::shaped(done)),
        Ok(_) => {
            Err(Failure::failed(format!("the server {server} wants more than arguments: such tools are not used")))
        }
        Err(error) => {
            shared.doubt.notify_one();
            Err(Failure::failed(format!("the server {server}: {}", clean(&error.to_string(), 300))))
        }
    }
}

/// Nothing against it, or what.
fn may_run(shared: &Shared, foreign: &str, arguments: &Map<String, Value>, scope: &ToolScope) -> Result<(), Failure> {
    let (server, tool) = (clean(&shared.server.name, 40), clean(foreign, 80));
    let forbidden = |english: String, chinese: String| {
        let message = if scope.language == "zh" { chinese } else { english };
        Err(Failure::new(FailureKind::Forbidden, message))
    };
    let now = shared.now();
    let Some(listed) = now.tools.iter().find(|listed| listed.foreign == foreign) else {
        return forbidden(
            format!("the server {server} has no tool {tool} any more"),
            format!("服务器 {server} 已没有工具 {tool}"),
        );
    };
    let left_out = listed.left_out.clone();
    if let Some(why) = now.second_hand.or(left_out) {
        return forbidden(format!("the server {server}: {why}"), format!("服务器 {server}：{why}"));
    }
    match class(shared, &shared.server.name, listed) {
        Class::Allow => {}
        Class::Changed => {
            return forbidden(
                format!(
                    "the tool {tool} of the server {server} is described otherwise than when it was allowed, so it was not run: a person looks at it with `menshen tools list`, which says how to allow it again"
                ),
                format!(
                    "服务器 {server} 的工具 {tool} 的说明与当初允许时不同，所以没有执行：请用 `menshen tools list` 查看，那里也写着怎样重新允许"
                ),
            );
        }
        Class::Ask => {
            let key = format!("mcp.servers.{server}.tools.{tool}");
            return forbidden(
                format!(
                    "nobody has decided about the tool {tool} of the server {server} yet, so it was not run: a person allows it with {key} = \"allow\" in menshen.toml or in the console"
                ),
                format!(
                    "还没有人决定是否允许服务器 {server} 的工具 {tool}，所以没有执行：请在 menshen.toml 或控制台设置 {key} = \"allow\""
                ),
            );
        }
        Class::Refuse => {
            return forbidden(
                format!("the tool {tool} of the server {server} was refused by the operator"),
                format!("服务器 {server} 的工具 {tool} 已被管理员禁止"),
            );
        }
    }
    if Value::Object(arguments.clone()).to_string().len() > ARGUMENT_BYTES_MAX {
        return Err(Failure::invalid(format!(
            "the arguments are longer than {} KiB: shorten them",
            ARGUMENT_BYTES_MAX / 1024
        )));
    }
    if shared.house.named_in_arguments(arguments) {
        return forbidden(
            "the arguments name an address of the house: the house is reached by its own tools only".to_owned(),
            "参数里有家里系统的地址：只能用它自己的工具访问".to_owned(),
        );
    }
    Ok(())
}
