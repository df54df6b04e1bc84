//! What is written down about batches: a row for each message in them.

use std::{fs, path::Path};

use serde_json::{Value, json};

use super::{
    super::{call, initialized, log::logged, stdio::Piped},
    SUBJECTS, Subject, cancel, initialize,
    stdio::{command, greeted},
    three,
};
use crate::process::binary;

/// The rows of a log that is complete, but for the handshake.
pub(super) fn read(file: &Path) -> Vec<Value> {
    let text = fs::read_to_string(file).unwrap();
    let rows = text.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    let is_batched = |row: &Value| {
        !row["kind"].is_null()
            && row["method"] != "initialize"
            && row["method"] != "notifications/initialized"
    };
    let mut rows: Vec<_> = rows.filter(is_batched).collect();
    rows.sort_by_key(|row| row["seq"].as_u64());
    rows
}

/// What is written down while this is said over pipes and so many lines are answered.
fn written(subject: Subject, faults: &[&str], says: &[Value], answers: usize) -> Vec<Value> {
    let (dir, store) = logged();
    let mut args = vec!["--audit", &store];
    faults.iter().for_each(|fault| args.extend(["--fault", fault]));
    let mut piped = greeted(command(subject, &args), "2025-03-26");
    says.iter().for_each(|message| piped.send(message));
    (0..answers).for_each(|_| drop(piped.line()));
    assert_eq!(piped.finish(), Some(0));
    read(&dir.path().join("log.jsonl"))
}

fn column<'a>(rows: &'a [Value], name: &str) -> Vec<&'a Value> {
    rows.iter().map(|row| &row[name]).collect()
}

pub(super) fn kinds(rows: &[Value]) -> Vec<&str> {
    rows.iter().map(|row| row["kind"].as_str().unwrap()).collect()
}

#[test]
fn every_message_of_a_batch_has_a_row() {
    for subject in SUBJECTS {
        let rows = written(subject, &[], &[three(2)], 1);
        assert_eq!(kinds(&rows), ["request", "notification", "request", "request"], "{subject:?}");
        assert_eq!(column(&rows, "rpc_id"), [&json!("2"), &Value::Null, &json!("3"), &json!("4")]);
        for row in rows.iter().filter(|row| row["kind"] == "request") {
            assert_eq!((&row["tool"], &row["success"]), (&json!("echo"), &json!(true)), "{row}");
            assert_eq!(row["bytes_in"], call(2).to_string().len(), "{row}");
            assert!(row["bytes_out"].as_u64().unwrap() > 0 && row["fault"].is_null(), "{row}");
        }
        let attempts = rows.iter().filter_map(|row| row["attempt"].as_u64());
        assert_eq!(attempts.collect::<Vec<_>>(), [1, 2, 3], "{subject:?}");
    }
}

#[test]
fn rows_say_what_became_of_each_call() {
    for subject in SUBJECTS {
        let faults = ["error@nth=1", "hang@nth=2"];
        let said = [three(2), json!([cancel(3), 7, [call(8)]])];
        // The array with the first and the last, and one that refuses what is no message.
        let rows = written(subject, &faults, &said, 2);
        let calls: Vec<_> = rows.iter().filter(|row| row["kind"] == "request").collect();
        let fired: Vec<_> = calls
            .iter()
            .map(|row| {
                let decisions: Value =
                    serde_json::from_str(row["fault"].as_str().unwrap_or("[]")).unwrap();
                let mut fired = decisions.as_array().unwrap().iter();
                fired
                    .find(|one| one["fired"] == true)
                    .map_or(Value::Null, |one| one["kind"].clone())
            })
            .collect();
        assert_eq!(fired, [json!("error"), json!("hang"), Value::Null], "{subject:?}");
        assert_eq!(
            (&calls[0]["error_code"], &calls[1]["cancelled"]),
            (&json!(-32603), &json!(true))
        );
        assert_eq!(calls[2]["success"], true, "{subject:?}");
        let others: Vec<_> = kinds(&rows).into_iter().filter(|kind| *kind != "request").collect();
        assert_eq!(others, ["notification", "cancellation", "refused", "refused"], "{subject:?}");
    }
}

#[test]
fn a_batch_has_a_limit() {
    let crowd = |count: usize| Value::Array((0..count as u64).map(|id| call(id + 2)).collect());
    for subject in SUBJECTS {
        let rows = written(subject, &["error@nth=2000"], &[crowd(1000)], 1);
        assert_eq!(rows.len(), 1000, "{subject:?}");
        assert!(rows.iter().all(|row| row["success"] == true), "{subject:?}");
        let rows = written(subject, &["error"], &[crowd(1001)], 1);
        assert_eq!(kinds(&rows), ["refused"], "{subject:?}");
        let said = rows[0].to_string();
        assert!(said.contains("more than 1000 messages"), "{subject:?}: {said}");
    }
}

#[test]
fn a_batch_that_the_server_refuses_is_passed_on_and_written_down() {
    let (dir, store) = logged();
    for faults in [&[][..], &["--fault", "error@nth=2"]] {
        let args = [&["--audit", store.as_str()], faults].concat();
        let mut piped = greeted(command(Subject::Proxy, &args), "2025-11-25");
        piped.send(&three(2));
        let refusal = piped.receive();
        assert_eq!((&refusal["id"], &refusal["error"]["code"]), (&Value::Null, &json!(-32600)));
        if !faults.is_empty() {
            // What the fault answers is not the server's to refuse.
            assert_eq!(super::ids(&piped.receive()), [3]);
        }
        assert_eq!(piped.finish(), Some(0));
    }
    let rows = read(&dir.path().join("log.jsonl"));
    let codes: Vec<_> =
        rows.iter().filter(|row| row["kind"] == "request").map(|row| &row["error_code"]).collect();
    assert_eq!(codes, [-32600, -32600, -32600, -32600, -32603, -32600]);
}

/// An array that nothing touches is not even written anew.
#[test]
fn a_batch_goes_on_to_the_byte() {
    let (_dir, store) = logged();
    let mut command = binary();
    command.args(["proxy", "--audit", &store, "--fault", "error@nth=9", "--", "cat"]);
    let mut piped = Piped::start(command);
    let odd = format!(" [ {} ,\t{},  {} ] \r\n", call(2), initialized(), call(3));
    piped.raw(odd.as_bytes());
    assert_eq!(piped.line(), odd);
    // The calls above wait for their replies, which come in an array of the same shape.
    let reply = |id| json!({"jsonrpc": "2.0", "id": id, "result": {}});
    // One of them is answered twice, which is for the client to judge.
    let odd = format!(" [ {} ,\t{},{} ] \r\n", reply(2), reply(3), reply(2));
    piped.raw(odd.as_bytes());
    assert_eq!(piped.line(), odd);
    assert_eq!(piped.finish(), Some(0));
    // So does a handshake, which no batch may hold.
    piped = Piped::start(self::command(Subject::Proxy, &["--audit", &store]));
    piped.send(&initialize("2025-03-26"));
    assert_eq!(piped.receive()["id"], 1);
}
