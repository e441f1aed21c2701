//! Tools of other people's servers, over the Model Context Protocol: started with the conversation, ended with it. A
//! server that does not come up is told and done without. What a server's tool does is asked about like a command.

use std::collections::BTreeMap;
use std::io::{self, Read};
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use conversation::tools::{Output, Spec};
use kit::invocation::Environment;
use kit::process::{Job, Running, minimal_environment};
use kit::text;
use mcp::Client;
use mcp::client::{ClientInfo, Opening, ToolInfo};
use serde_json::{Map, Value};
use wire::Deadline;

use crate::config::Server;

/// How long a server may take to come up. All of them come up at once.
const START: Duration = Duration::from_secs(10);

/// As long as one of our own commands.
const CALL: Duration = Duration::from_secs(120);

/// A tool of a server.
pub(crate) struct Offered {
    pub(crate) spec: Spec,
    /// As the server calls it.
    name: String,
    link: Arc<Link>,
}

struct Link {
    client: Client,
    /// Dies with the last of its tools.
    _process: Mutex<Running>,
}

/// Starts all servers and lists their tools, in an order that is always the same. What did not come up is told.
pub(crate) fn start(
    servers: &BTreeMap<String, Server>,
    project: &Path,
    env: &Environment,
) -> (Vec<Arc<Offered>>, Vec<String>) {
    let (mut offered, mut trouble) = (Vec::new(), Vec::new());
    let deadline = Deadline::after(START);
    let results: Vec<_> = thread::scope(|scope| {
        let starting: Vec<_> = servers
            .iter()
            .map(|(name, server)| (name, scope.spawn(move || connect(name, server, project, env, deadline))))
            .collect();
        starting.into_iter().map(|(name, thread)| (name, thread.join())).collect()
    });
    for (name, result) in results {
        match result.unwrap_or_else(|_| Err("it broke".to_owned())) {
            Ok(tools) => offered.extend(tools),
            Err(why) => trouble.push(format!("the server `{name}` is left out: {why}")),
        }
    }
    (offered, trouble)
}

impl Offered {
    pub(crate) fn call(&self, arguments: Map<String, Value>) -> Output {
        match self.link.client.call_tool(&self.name, arguments, Deadline::after(CALL)) {
            Ok(result) if result.is_error => Output::failed(result.to_text()),
            Ok(result) => Output::done(result.to_text()),
            Err(error) => Output::failed(error.to_string()),
        }
    }
}

fn connect(
    name: &str,
    server: &Server,
    project: &Path,
    env: &Environment,
    deadline: Deadline,
) -> Result<Vec<Arc<Offered>>, String> {
    let job = Job::new(&server.command).args(&server.args).cwd(project);
    let job = job.envs(minimal_environment(env, &[])).envs(&server.env);
    let mut process = job.start().map_err(|error| error.to_string())?;
    let (Some(stdin), Some(stdout), Some(stderr)) =
        (process.stdin.take(), process.stdout.take(), process.stderr.take())
    else {
        return Err("it has no streams".to_owned());
    };
    // Nobody reads it, and a full pipe would stop the server.
    thread::spawn(move || drain(stderr));
    let me = ClientInfo { name: "agent".into(), version: env!("CARGO_PKG_VERSION").into() };
    let client = Client::connect(stdout, stdin, me, Opening::default(), deadline)
        .map_err(|error| error.to_string())?;
    let tools = client.list_tools(deadline).map_err(|error| error.to_string())?;
    let link = Arc::new(Link { client, _process: Mutex::new(process) });
    let mut tools: Vec<_> = tools
        .into_iter()
        .map(|tool| Offered { spec: spec(name, &tool), name: tool.name, link: Arc::clone(&link) })
        .collect();
    tools.sort_by(|left, right| left.spec.name.cmp(&right.spec.name));
    tools.dedup_by(|left, right| left.spec.name == right.spec.name);
    Ok(tools.into_iter().map(Arc::new).collect())
}

fn drain(mut stderr: impl Read) {
    let _ = io::copy(&mut stderr, &mut io::sink());
}

/// `mcp__server__tool`, in the letters that all providers take.
fn spec(server: &str, tool: &ToolInfo) -> Spec {
    let plain = |c: char| if c.is_ascii_alphanumeric() || c == '-' { c } else { '_' };
    let name: String = format!("mcp__{server}__{}", tool.name).chars().map(plain).take(64).collect();
    let about = tool.description.as_deref().or(tool.title.as_deref()).unwrap_or_default();
    Spec::new(&name, text::head(about, 2000), tool.schema.clone())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_tool_has_a_name_that_every_provider_takes() {
        let tool =
            |name: &str| ToolInfo { name: name.into(), title: None, description: None, schema: json!({}) };
        assert_eq!(spec("files", &tool("read.text")).name, "mcp__files__read_text");
        assert_eq!(spec("ä", &tool(&"x".repeat(99))).name.len(), 64);
    }
}
