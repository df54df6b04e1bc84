//! An agent, with faults in virtual time.
//!
//! | file      | what it does                                                          |
//! |-----------|-----------------------------------------------------------------------|
//! | `toolbox` | the tools that the agent has, and the servers behind them             |
//! | `model`   | who decides what the agent does next                                  |
//! | `persona` | a model that comes with the tool, with a tool to call                 |
//! | `api`     | where a model is asked                                                |
//! | `tape`    | what models said, written down and said again                         |
//! | `drive`   | the loop between the two                                              |
//! | `live`    | the same for a program of its own, in real time                       |
//! | `judge`   | what became of it                                                     |
//!
//! A call that an injected fault touches is not made: what the agent's client would have seen is
//! made up, and costs virtual time. So nothing blocks, and the same seed gives the same run.

mod api;
mod drive;
mod judge;
mod live;
mod model;
mod persona;
mod tape;
mod toolbox;

use mcp_loadtest_core::suite::{Outcome, TestResult};
use tokio::time::Instant;

pub(super) use self::model::Models;
use self::{drive::Drive, model::Surroundings, toolbox::Toolbox};
use super::{
    choose::Case,
    desk::{Desk, Repeat},
    pool::Pool,
};

/// Gives the task once.
pub(super) async fn carry_out(
    desk: &Desk,
    case: Case,
    repeat: Repeat,
    mut result: TestResult,
    pool: &mut Pool,
) -> TestResult {
    let began = Instant::now();
    let agent = &desk.suites[case.suite].suite.agents[case.index];
    if agent.is_live() {
        return live::carry_out(desk, case, repeat.number, result).await;
    }
    let mut toolbox = match Toolbox::open(desk, case, pool).await {
        Ok(toolbox) => toolbox,
        Err(why) => return broken(result, why),
    };
    let surroundings = Surroundings { desk, case, number: repeat.number, toolbox: &toolbox };
    let driven = match Models::open(&surroundings, agent).await {
        Ok(model) => Drive::new(desk, case, repeat.number, &mut toolbox, model).run().await,
        Err(why) => Err(why),
    };
    let judged = match driven {
        Ok(trajectory) => {
            let took_ms = began.elapsed().as_secs_f64() * 1e3;
            let non_idempotent = toolbox.non_idempotent();
            let seen = judge::Seen { trajectory, live: None, non_idempotent };
            judge::judge(desk, case, seen, took_ms, &mut result);
            result
        }
        Err(why) => broken(result, why),
    };
    toolbox.give_back(pool, case, repeat, desk.isolation(case)).await;
    judged
}

fn broken(mut result: TestResult, why: String) -> TestResult {
    result.outcome = Outcome::Broken;
    result.reason = why;
    result
}
