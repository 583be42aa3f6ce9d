//! `remuda actor`: Python programs on the chain.

mod check;
mod new;
mod show;
mod test;

use crate::failure::Failure;
use crate::send::{Room, SendArgs, send_within};
use crate::session::{NodeArgs, PrintArgs, Session, read_input, run};
use crate::value;
use clap::Subcommand;
use remuda_client::amount::parse_with_unit;
use remuda_client::types::{HexAddress, HexBytes, HexHash};
use remuda_protocol::actors::actor_address;
use remuda_protocol::primitives::{Amount, B256};
use remuda_protocol::transaction::Instruction;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// Write, check, deploy and call actors: Python programs that live on the chain.
#[derive(clap::Args, Debug)]
#[command(after_help = "From nothing to an answer:
  $ remuda actor new counter.py
  $ remuda actor check counter.py
  $ remuda actor deploy counter.py --key my.key
  $ remuda actor call 0x… add '{\"by\": 2}' --key my.key
  $ remuda actor state 0x…
  $ remuda actor logs 0x…

Each of them takes --json.")]
pub struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand, Debug)]
enum Command {
    /// Write an actor to begin with into a new file.
    #[command(after_help = "Example:\n  $ remuda actor new counter.py")]
    New {
        /// File to create.
        file: PathBuf,
        #[command(flatten)]
        print: PrintArgs,
    },
    /// Say whether the chain would take a program, and what can be called.
    #[command(after_help = "Example:\n  $ remuda actor check counter.py")]
    Check {
        #[command(flatten)]
        program: ProgramArgs,
        #[command(flatten)]
        print: PrintArgs,
    },
    /// Run tests of actors on a chain in this process.
    ///
    /// A test is a function test_… of a Python file. The global `chain` deploys actors from files beside it, calls
    /// them, lets blocks pass, and answers jobs.
    #[command(after_help = "Examples:
  $ remuda actor test examples/test_price_feed.py
  $ remuda actor test tests/*.py --only alarm --json

A test:
  def test_adds():
      counter = chain.deploy('counter.py')
      assert chain.call(counter, 'add', {'by': 2}) == 2")]
    Test {
        /// Files with tests.
        #[arg(required = true)]
        files: Vec<PathBuf>,
        /// Only tests whose names contain this.
        #[arg(long, value_name = "TEXT")]
        only: Option<String>,
        #[command(flatten)]
        print: PrintArgs,
    },
    /// Put a program on the chain.
    #[command(after_help = "Examples:
  $ remuda actor deploy counter.py --key my.key
  $ remuda actor deploy treasury.py '{\"quorum\": 2}' --value 100cby --key my.key

Its address follows from the account, the salt and the code: the same three can be deployed once. `init` of the
program, if it has one, gets the JSON value.")]
    Deploy {
        #[command(flatten)]
        program: ProgramArgs,
        #[command(flatten)]
        payload: Payload,
        /// Tells apart what one account deploys of the same code.
        #[arg(long, value_name = "HASH")]
        salt: Option<HexHash>,
        #[command(flatten)]
        on: On,
    },
    /// Call a method, and wait until it has run.
    #[command(after_help = "Examples:
  $ remuda actor call 0x… add '{\"by\": 2}' --key my.key
  $ remuda actor call 0x… pay --hex 0x00ff --value 1.5cby --key my.key

A method that awaits something ends for now; `remuda actor logs` shows how it goes on.")]
    Call {
        /// Address of the actor.
        actor: HexAddress,
        /// Method to call.
        method: String,
        #[command(flatten)]
        payload: Payload,
        #[command(flatten)]
        on: On,
    },
    /// Give an actor of yours other code.
    #[command(after_help = "Example:\n  $ remuda actor upgrade 0x… counter.py --key my.key")]
    Upgrade {
        /// Address of the actor.
        actor: HexAddress,
        #[command(flatten)]
        program: ProgramArgs,
        #[command(flatten)]
        on: On,
    },
    /// Show an actor: its owner, its money, what waits.
    #[command(after_help = "Example:\n  $ remuda actor show 0x…")]
    Show {
        /// Address of the actor.
        actor: HexAddress,
        /// Print the source code instead.
        #[arg(long)]
        code: bool,
        #[command(flatten)]
        node: NodeArgs,
    },
    /// Show what an actor keeps.
    #[command(after_help = "Examples:
  $ remuda actor state 0x…
  $ remuda actor state 0x… --prefix reply: --json")]
    State {
        /// Address of the actor.
        actor: HexAddress,
        /// Only keys that begin with this text.
        #[arg(long, value_name = "TEXT")]
        prefix: Option<String>,
        #[command(flatten)]
        node: NodeArgs,
    },
    /// Show what an actor said and what became of calls to it.
    #[command(after_help = "Example:\n  $ remuda actor logs 0x… --follow")]
    Logs {
        /// Address of the actor.
        actor: HexAddress,
        /// So many entries at most, the newest ones.
        #[arg(long, value_name = "N", default_value_t = 50)]
        last: usize,
        /// Go on with what happens from now on, until Ctrl-C.
        #[arg(long)]
        follow: bool,
        #[command(flatten)]
        node: NodeArgs,
    },
}

/// A program that is to be on the chain.
#[derive(clap::Args, Debug)]
struct ProgramArgs {
    /// The program; `-` for standard input.
    file: PathBuf,
    /// Confirm that anyone may call the methods of a class with @actor.
    ///
    /// The chain has no permission tags: it accepts calls from strangers that the class's SDK would refuse.
    #[arg(long)]
    open: bool,
}

/// Where a transaction goes, who signs it, and what it may cost.
#[derive(clap::Args, Debug)]
struct On {
    /// Money that goes with it.
    #[arg(long, value_name = "AMOUNT", value_parser = parse_with_unit)]
    value: Option<Amount>,
    /// Cycles that the program may take; what it does not use is not paid.
    #[arg(long, default_value_t = 1_000_000)]
    cycles: u64,
    /// Cells that it may write.
    #[arg(long, default_value_t = 65_536)]
    cells: u64,
    #[command(flatten)]
    send: SendArgs,
    #[command(flatten)]
    node: NodeArgs,
}

#[derive(clap::Args, Debug)]
struct Payload {
    /// What the method gets, as JSON; nothing if it is left out. Addresses and hashes ("0x…" with 40 or 64
    /// digits) become bytes, as actors have them.
    #[arg(value_name = "JSON")]
    message: Option<String>,
    /// Bytes instead, in hex.
    #[arg(long, value_name = "HEX", conflicts_with = "message")]
    hex: Option<HexBytes>,
}

impl Payload {
    fn bytes(&self) -> Result<Vec<u8>, Failure> {
        match (&self.message, &self.hex) {
            (Some(json), _) => value::from_json(json).map_err(Failure::Payload),
            (None, Some(HexBytes(bytes))) => Ok(bytes.clone()),
            (None, None) => Ok(Vec::new()),
        }
    }
}

pub fn main(args: &Args) -> ExitCode {
    match &args.command {
        Command::New { file, print } => new::main(file, *print),
        Command::Check { program, print } => check::main(program, *print),
        Command::Test { files, only, print } => test::main(files, only.as_deref(), *print),
        Command::Deploy { program, payload, salt, on } => {
            run(&on.node, async |session| deploy(session, program, payload, *salt, on).await)
        }
        Command::Call { actor, method, payload, on } => run(&on.node, async |session| {
            let instruction = Instruction::CallActor {
                actor: actor.0,
                method: method.clone(),
                payload: payload.bytes()?.into(),
                value: on.value.unwrap_or_default(),
            };
            send_within(session, &on.send, instruction, on.room()).await
        }),
        Command::Upgrade { actor, program, on } => run(&on.node, async |session| {
            let code = sound_program(session, program)?;
            let instruction = Instruction::UpgradeActor { actor: actor.0, code };
            send_within(session, &on.send, instruction, on.room()).await
        }),
        Command::Show { actor, code, node } => {
            run(node, async |session| show::actor(session, *actor, *code).await)
        }
        Command::State { actor, prefix, node } => {
            run(node, async |session| show::state(session, *actor, prefix.as_deref()).await)
        }
        Command::Logs { actor, last, follow, node } => {
            run(node, async |session| show::logs(session, *actor, *last, *follow).await)
        }
    }
}

impl On {
    const fn room(&self) -> Room {
        Room { cycles: self.cycles, cells: self.cells }
    }
}

async fn deploy(
    session: &Session,
    program: &ProgramArgs,
    payload: &Payload,
    salt: Option<HexHash>,
    on: &On,
) -> Result<(), Failure> {
    let code = sound_program(session, program)?;
    let salt = salt.map_or(B256::ZERO, |HexHash(salt)| salt);
    let actor = actor_address(on.send.key.read()?.address(), salt, &code);
    let instruction = Instruction::DeployActor {
        salt,
        code,
        payload: payload.bytes()?.into(),
        value: on.value.unwrap_or_default(),
    };
    send_within(session, &on.send, instruction, on.room()).await?;
    if !session.out.json {
        session.out.text(&format!("actor {}\n", HexAddress(actor)))?;
    }
    Ok(())
}

/// The text of a program that the chain takes. What is wrong is found here, before a fee is paid, with its line.
fn sound_program(session: &Session, program: &ProgramArgs) -> Result<String, Failure> {
    let (code, name) = (read_program(&program.file)?, program.file.display().to_string());
    let facts = check::compiled(&code, &name, program.open)?;
    if let Some(unread) = check::unread(&facts.prints, &name) {
        session.out.remark(&crate::style::clean(&unread));
    }
    Ok(code)
}

fn read_program(file: &Path) -> Result<String, Failure> {
    let name = file.display().to_string();
    String::from_utf8(read_input(file)?)
        .map_err(|_| Failure::Program(format!("{name} is no UTF-8 text")))
}
