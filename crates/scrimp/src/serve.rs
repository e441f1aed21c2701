//! One server over all tools, for clients of the Model Context Protocol: a client is set up once, and whatever a tool offers
//! is there. Knows no tool.

use std::io;

use kit::{Exit, Failure, Invocation};
use mcp::{Server, serve};

use crate::tools::Tool;

/// Serves one connection on the standard streams until the client hangs up.
pub(crate) fn run(invocation: &mut Invocation, tools: &[Tool]) -> Result<Exit, Failure> {
    let places = invocation.places()?;
    let offered = tools.iter().filter_map(|tool| tool.mcp);
    let parts = offered.map(|part| part(invocation, &places)).collect::<Result<_, _>>()?;
    let server = Server::of_parts("scrimp", env!("CARGO_PKG_VERSION"), parts);
    let reader = std::mem::replace(&mut invocation.stdin, Box::new(io::empty()));
    serve(reader, &mut invocation.stdout, &server)
        .map(|()| Exit::Done)
        .map_err(|error| Failure::new("the connection broke").because(&error))
}
