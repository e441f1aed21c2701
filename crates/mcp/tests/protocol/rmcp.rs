//! rmcp, somebody else's implementation, as the peer in both roles and both generations, over real sockets.

use std::borrow::Cow;
use std::os::unix::net::UnixStream;
use std::thread;

use mcp::client::{CallError, ClientInfo, ConnectError, Opening};
use mcp::{Client, Version};
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, ErrorData, Implementation,
    InitializeRequestParams, ListToolsResult, PaginatedRequestParams, ProtocolVersion, ServerCapabilities,
    ServerConfig, Tool,
};
use rmcp::service::{RequestContext, RoleServer, RunningService, ServiceError};
use rmcp::{ClientHandler, ClientLifecycleMode, ClientServiceExt, RoleClient, ServerHandler, ServiceExt};
use serde_json::{Map, Value, json};

use super::bench::{serve_socket, server, soon};

fn to_tokio(stream: UnixStream) -> tokio::net::UnixStream {
    stream.set_nonblocking(true).unwrap();
    tokio::net::UnixStream::from_std(stream).unwrap()
}

fn arguments(value: &Value) -> Map<String, Value> {
    value.as_object().cloned().unwrap()
}

/// Asks for one version in its handshake.
#[derive(Clone)]
struct Asking(ProtocolVersion);

impl ClientHandler for Asking {
    fn get_info(&self) -> InitializeRequestParams {
        let mut info = InitializeRequestParams::default();
        info.protocol_version = self.0.clone();
        info
    }
}

/// What every generation of rmcp's client must get from our server.
async fn use_our_server(client: &RunningService<RoleClient, Asking>, version: &str) {
    let tools = client.list_all_tools().await.unwrap();
    assert_eq!(
        tools.iter().map(|tool| tool.name.as_ref()).collect::<Vec<_>>(),
        ["echo", "count", "fail", "version"]
    );
    assert_eq!(tools[0].title.as_deref(), Some("Echo"));
    let call = async |name: &'static str, args: Value| {
        client.call_tool(CallToolRequestParams::new(name).with_arguments(arguments(&args))).await
    };
    let said = |result: &CallToolResult| result.content[0].as_text().unwrap().text.clone();
    assert_eq!(said(&call("version", json!({})).await.unwrap()), version);
    assert_eq!(said(&call("echo", json!({"text": "añ\n日"})).await.unwrap()), "añ\n日");
    let counted = call("count", json!({})).await.unwrap();
    assert_eq!(counted.structured_content, Some(json!({"calls": 2})));
    assert_eq!(call("fail", json!({})).await.unwrap().is_error, Some(true));
    let refused = |error| matches!(error, ServiceError::McpError(error) if error.code.0 == -32602);
    assert!(refused(call("nothing", json!({})).await.unwrap_err()));
    assert!(refused(call("echo", json!({})).await.unwrap_err()));
}

#[tokio::test]
async fn their_client_shakes_hands_with_our_server_in_every_version() {
    for asked in ProtocolVersion::KNOWN_VERSIONS {
        let (stream, serving) = serve_socket(server());
        let client = Asking(asked.clone()).serve(to_tokio(stream)).await.unwrap();
        let info = client.peer_info().unwrap();
        let expected = if asked.has_initialize() { asked.as_str() } else { "2025-11-25" };
        assert_eq!(info.protocol_version.as_str(), expected);
        assert_eq!(info.server_info.as_ref().unwrap().name, "bench");
        assert_eq!(info.instructions.as_deref(), Some("Echo first."));
        use_our_server(&client, expected).await;
        client.cancel().await.unwrap();
        serving.join().unwrap();
    }
}

#[tokio::test]
async fn their_client_discovers_our_server_without_a_handshake() {
    let newest = vec![ProtocolVersion::V_2026_07_28];
    let modes = [
        ClientLifecycleMode::Discover { preferred_versions: newest.clone() },
        ClientLifecycleMode::Auto { preferred_versions: newest, legacy_version: None },
    ];
    for mode in modes {
        let (stream, serving) = serve_socket(server());
        let client =
            Asking(ProtocolVersion::LATEST).serve_with_lifecycle(to_tokio(stream), mode).await.unwrap();
        let info = client.peer_info().unwrap();
        assert_eq!(info.protocol_version, ProtocolVersion::V_2026_07_28);
        assert_eq!(info.server_info.as_ref().unwrap().name, "bench");
        use_our_server(&client, "2026-07-28").await;
        let listed = client.list_tools(None).await.unwrap();
        assert!(listed.result_type.is_some_and(|kind| kind.is_complete()));
        assert_eq!(listed.ttl_ms, Some(300_000));
        client.cancel().await.unwrap();
        serving.join().unwrap();
    }
}

#[tokio::test]
async fn their_client_may_discover_us_and_choose_an_older_version() {
    let (stream, serving) = serve_socket(server());
    let mode = ClientLifecycleMode::Discover { preferred_versions: vec![ProtocolVersion::V_2025_06_18] };
    let client = Asking(ProtocolVersion::LATEST).serve_with_lifecycle(to_tokio(stream), mode).await.unwrap();
    use_our_server(&client, "2025-06-18").await;
    client.cancel().await.unwrap();
    serving.join().unwrap();
}

/// A server of theirs that speaks these versions and gives its two tools in two pages.
#[derive(Clone)]
struct Theirs(&'static [ProtocolVersion]);

impl ServerHandler for Theirs {
    fn get_info(&self) -> ServerConfig {
        ServerConfig::new(ServerCapabilities::builder().enable_tools().build())
            .with_server_info(Implementation::new("theirs", "9"))
    }

    fn supported_protocol_versions(&self) -> Cow<'static, [ProtocolVersion]> {
        Cow::Borrowed(self.0)
    }

    async fn list_tools(
        &self,
        request: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let schema = arguments(&json!({"type": "object"}));
        let mut page = ListToolsResult::default();
        match request.and_then(|request| request.cursor) {
            None => {
                page.tools.push(Tool::new("shout", "louder", schema));
                page.next_cursor = Some("second".into());
            }
            Some(cursor) => {
                assert_eq!(cursor, "second");
                page.tools.push(Tool::new("break", "breaks", schema));
            }
        }
        Ok(page)
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let text = request.arguments.unwrap_or_default()["text"].as_str().unwrap_or("?").to_uppercase();
        let content = vec![ContentBlock::text(text)];
        match request.name.as_ref() {
            "shout" => Ok(CallToolResult::success(content).into()),
            "break" => Ok(CallToolResult::error(content).into()),
            name => Err(ErrorData::invalid_params(format!("no {name}"), None)),
        }
    }
}

/// Runs a server of theirs on a thread of its own until the stream ends.
fn serve_theirs(versions: &'static [ProtocolVersion]) -> (UnixStream, thread::JoinHandle<()>) {
    let (ours, theirs) = UnixStream::pair().unwrap();
    let serving = thread::spawn(move || {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            if let Ok(running) = Theirs(versions).serve(to_tokio(theirs)).await {
                running.waiting().await.unwrap();
            }
        });
    });
    (ours, serving)
}

fn connect(stream: &UnixStream, opening: Opening) -> Result<Client, ConnectError> {
    let info = ClientInfo { name: "t".into(), version: "0".into() };
    Client::connect(stream.try_clone().unwrap(), stream.try_clone().unwrap(), info, opening, soon())
}

#[test]
fn our_client_uses_their_server_in_both_generations() {
    use ProtocolVersion as P;
    const OLD: &[P] = &[P::V_2024_11_05];
    const NEW: &[P] = &[P::V_2026_07_28];
    for (versions, opening, version) in [
        (P::KNOWN_VERSIONS, Opening::Handshake, Version::V2025_11_25),
        (P::KNOWN_VERSIONS, Opening::Discover, Version::V2026_07_28),
        (OLD, Opening::Handshake, Version::V2024_11_05),
        (OLD, Opening::Discover, Version::V2024_11_05),
        (NEW, Opening::Discover, Version::V2026_07_28),
    ] {
        let (stream, serving) = serve_theirs(versions);
        let client = connect(&stream, opening).unwrap();
        assert_eq!((client.version(), client.server().name.as_str()), (version, "theirs"), "{opening:?}");
        let tools = client.list_tools(soon()).unwrap();
        assert_eq!(tools.iter().map(|tool| tool.name.as_str()).collect::<Vec<_>>(), ["shout", "break"]);
        let shout = client.call_tool("shout", arguments(&json!({"text": "hi"})), soon()).unwrap();
        assert_eq!((shout.to_text().as_str(), shout.is_error), ("HI", false));
        let broken = client.call_tool("break", arguments(&json!({"text": "no"})), soon()).unwrap();
        assert_eq!((broken.to_text().as_str(), broken.is_error), ("NO", true));
        let refused = client.call_tool("other", Map::from_iter([("text".into(), json!("x"))]), soon());
        assert!(matches!(refused, Err(CallError::Refused(error)) if error.code == -32602));
        drop(client);
        stream.shutdown(std::net::Shutdown::Both).unwrap();
        serving.join().unwrap();
    }
}

#[test]
fn their_server_that_hangs_up_on_a_handshake_is_reached_on_a_second_connection() {
    const NEW: &[ProtocolVersion] = &[ProtocolVersion::V_2026_07_28];
    let (stream, serving) = serve_theirs(NEW);
    assert!(matches!(connect(&stream, Opening::Handshake), Err(ConnectError::WantsDiscover)));
    serving.join().unwrap();
    let (stream, serving) = serve_theirs(NEW);
    assert_eq!(connect(&stream, Opening::Discover).unwrap().version(), Version::V2026_07_28);
    stream.shutdown(std::net::Shutdown::Both).unwrap();
    serving.join().unwrap();
}
