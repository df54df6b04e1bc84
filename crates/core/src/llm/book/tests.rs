use super::*;
use crate::llm::Provider;
use serde_json::json;

fn request(model: &str, message: &str) -> Request {
    Request {
        provider: Provider::Openai,
        model: model.into(),
        user_message: message.into(),
        system_prompt: String::new(),
        temperature: None,
        metadata: Default::default(),
        tools: Vec::new(),
        stream: false,
        include_usage: false,
        choices: 1,
        headers: Vec::new(),
        body: json!({}),
        length: 2,
        hash: 0,
    }
}

fn book(text: &str) -> Book {
    Book::parse(text, "f.yml", Seed(1)).unwrap()
}

fn chosen(book: &Book, model: &str, message: &str) -> Result<usize, String> {
    let request = request(model, message);
    let chosen = book.choose(&request, Duration::ZERO);
    chosen.map(|chosen| chosen.index).map_err(|miss| miss.words(&request))
}

#[test]
fn priority_goes_before_order_and_catch_all_comes_last() {
    let book = book(
        "fixtures:
           - {catch_all: true, priority: 9, response: {content: a}}
           - {match: {user_message: hel}, response: {content: b}}
           - {match: {user_message: hello}, priority: 1, response: {content: c}}",
    );
    assert_eq!(chosen(&book, "m", "hello"), Ok(2));
    assert_eq!(chosen(&book, "m", "help"), Ok(1));
    assert_eq!(chosen(&book, "m", "bye"), Ok(0));
}

#[test]
fn fixtures_behind_one_that_answers_everything_are_never_reached() {
    let never = |text: &str| book(text).never_reached();
    let shadowed = "fixtures:
           - {match: {user_message: a}, response: {content: a}}
           - {response: {content: all}}
           - {match: {user_message: b}, response: {content: b}}
           - {provider: gemini, response: {content: c}}
           - {match: {user_message: d}, priority: 1, response: {content: d}}
           - {match: {user_message: a}, response: {content: again}}";
    assert_eq!(never(shadowed), [(2, 1), (3, 1), (5, 0)]);
    let reached = "fixtures:
           - {when: {first: 1}, response: {content: a}}
           - {scenario: {name: s, required_state: one}, response: {content: b}}
           - {provider: gemini, response: {content: c}}
           - {match: {model: m}, response: {content: d}}
           - {catch_all: true, response: {content: all}}";
    assert_eq!(never(reached), []);
}

#[test]
fn a_story_goes_on() {
    let book = book(
        "fixtures:
           - {scenario: {name: s, required_state: '', set_state: one}, response: {content: a}}
           - {scenario: {name: s, required_state: one, set_state: two}, response: {content: b}}
           - {scenario: {name: s, required_state: two}, response: {content: c}}",
    );
    let told: Vec<_> = (0..4).map(|_| chosen(&book, "m", "x").unwrap()).collect();
    assert_eq!(told, [0, 1, 2, 2]);
    book.reset();
    assert_eq!(chosen(&book, "m", "x"), Ok(0));
}

#[test]
fn the_first_two_fail_and_then_it_works() {
    let book = book(
        "fixtures:
           - {when: {times: 2}, error: {status: 503, message: busy}}
           - {response: {content: fine}}",
    );
    let told: Vec<_> = (0..3).map(|_| chosen(&book, "m", "x").unwrap()).collect();
    assert_eq!(told, [0, 0, 1]);
}

#[test]
fn the_nearest_fixture_is_named_with_what_is_wrong() {
    let book = book(
        "fixtures:
           - {match: {user_message: hello, model: gpt-9}, response: {content: a}}
           - {match: {user_message: bye, model: other}, response: {content: b}}",
    );
    let told = chosen(&book, "gpt-4", "hello there").unwrap_err();
    assert_eq!(
        told,
        "No fixture matched for model='gpt-4' (2 fixtures checked); \
         the nearest is fixture 0: model: `gpt-9` is not in `gpt-4`"
    );
}

/// What a fixture with this condition says of a request that has something of everything.
fn missed(condition: &str) -> Vec<(String, String)> {
    let text = format!("fixtures: [{{match: {{{condition}}}, response: {{content: a}}}}]");
    let mut rich = request("gpt-4", " hello ");
    rich.temperature = Some(0.5);
    rich.system_prompt = "be brief".into();
    rich.headers = vec![("x-team".into(), "blue".into())];
    let metadata = json!({"user": "u1", "paid": true, "level": 7, "none": null});
    rich.metadata = metadata.as_object().unwrap().clone();
    rich.tools = vec!["search".into(), "fetch".into()];
    rich.body = json!({"a": [{"b": 1}], "n": null});
    let book = book(&text);
    let matching = book.pages[0].fixture.matching.as_ref().unwrap();
    assert_eq!(matching.conditions(), 1, "{condition}");
    let misses = matching.misses(&rich);
    assert_eq!(matching.fits(&rich), misses.is_empty(), "{condition}");
    misses
}

#[test]
fn every_condition_is_kept() {
    for good in [
        "user_message: hello",
        "user_message: {regex: '^h.*o$'}",
        "system_prompt: brief",
        "temperature: 0.5",
        "temperature: {min: 0.5, max: 0.6}",
        "temperature: {min: 0.4, max: 0.5}",
        "headers: {X-Team: bl}",
        "metadata: {user: u1}",
        "metadata: {paid: 'true'}",
        "metadata: {level: '7'}",
        "tool_schema: fetch",
        "body_jsonpath: '$.a[0].b'",
    ] {
        assert_eq!(missed(good), [], "{good}");
    }
    for (bad, key, why) in [
        ("user_message: {regex: '^H'}", "user_message", "/^H/ is not in `hello`"),
        ("system_prompt: long", "system_prompt", "`long` is not in `be brief`"),
        ("temperature: 0.6", "temperature", "it is 0.5"),
        ("temperature: {min: 0.6, max: 1}", "temperature", "it is 0.5"),
        ("headers: {x-team: red}", "headers.x-team", "`red` is not in `blue`"),
        ("headers: {x-else: red}", "headers.x-else", "`red` is not in ``"),
        ("metadata: {none: 'null'}", "metadata.none", "`null` is not in ``"),
        ("tool_schema: x", "tool_schema", "`x` is not among the tools (search, fetch)"),
        ("body_jsonpath: '$.n'", "body_jsonpath", "`$.n` finds nothing"),
    ] {
        assert_eq!(missed(bad), [(key.to_owned(), why.to_owned())], "{bad}");
    }
}

#[test]
fn who_fits_and_does_not_answer_says_why() {
    let told = |text: &str| {
        let book = book(text);
        let _ = chosen(&book, "m", "x");
        chosen(&book, "m", "x").unwrap_err()
    };
    let none = "No fixture matched for model='m' (1 fixture checked); the nearest is fixture 0: ";
    let over = told("fixtures: [{when: {times: 1}, response: {content: a}}]");
    assert_eq!(over, format!("{none}when: request 2 is not one of those that it answers"));
    let elsewhere =
        told("fixtures: [{scenario: {name: s, required_state: two}, response: {content: a}}]");
    assert_eq!(elsewhere, format!("{none}scenario: `s` is at ``, not at `two`"));
    let other = told("fixtures: [{provider: gemini, response: {content: a}}]");
    assert_eq!(other, format!("{none}provider: it is `openai`, not `gemini`"));
}

#[test]
fn a_template_is_filled_in_from_the_request() {
    let template = |text: &str| crate::llm::Template::try_from(text.to_owned());
    let mut asked = request("gpt-4", "hello");
    asked.body = json!({"n": 3});
    let filled = |text: &str| template(text).unwrap().render(&asked);
    let all = "{{ user_message }} {{ model }} {{ provider }} {{ request.n }}";
    assert_eq!(filled(all).unwrap(), "hello gpt-4 openai 3");
    let unknown = filled("{{ nobody }}").unwrap_err();
    assert!(unknown.starts_with("content_template: undefined value"), "{unknown}");
    assert!(filled("{% for a in range(99999) %}xxxxxxxxxxxxxxxxxx{% endfor %}").is_err());
    let broken = template("{{ a").unwrap_err();
    assert!(broken.starts_with("not a template: syntax error"), "{broken}");
}

#[test]
fn a_book_knows_what_is_in_it() {
    let full = book(
        "fixtures:
           - {match: {model: gpt-9}, response: {content: a}}
           - {match: {model: {regex: '^claude'}}, response: {content: b}}
           - {match: {model: gemini, headers: {a: b}}, response: {content: c}}
           - {match: {model: gpt-9, user_message: x}, response: {content: d}}",
    );
    assert_eq!(full.models(), ["gemini", "gpt-9"]);
    assert_eq!((full.len(), full.is_empty(), full.looks_at_headers()), (4, false, true));
    let plain = book("fixtures: [{response: {content: a}}]");
    assert_eq!((plain.len(), plain.looks_at_headers()), (1, false));
}

#[test]
fn chance_is_as_often_as_it_says() {
    for share in [0.001, 0.1, 0.5, 0.9] {
        let when = When { probability: Some(share), ..When::default() };
        let hits = (1..=10_000).filter(|seed| when.holds(1, Duration::ZERO, Seed(*seed), 0));
        let (hits, n) = (hits.count() as f64, 10_000.0);
        let sigma = (n * share * (1.0 - share)).sqrt();
        assert!((hits - n * share).abs() <= 3.0 * sigma, "{share}: {hits}");
    }
}

#[test]
fn the_nearest_keeps_most_and_comes_first() {
    let nearest = |text: &str| {
        let miss = book(text).choose(&request("m", "x"), Duration::ZERO).unwrap_err();
        (miss.looked_at, miss.nearest)
    };
    for (name, text, expected) in [
        (
            "of equals the first",
            "{match: {model: a}, response: {content: a}},
             {match: {model: b}, response: {content: b}}",
            (2, Some(0)),
        ),
        (
            "one that keeps more, behind one that keeps less",
            "{match: {model: a, user_message: b}, response: {content: a}},
             {match: {model: m, user_message: b}, response: {content: b}},
             {match: {model: a, user_message: b}, response: {content: c}}",
            (3, Some(1)),
        ),
        (
            "another API is one thing more that is wrong",
            "{match: {model: a}, provider: gemini, response: {content: a}},
             {match: {model: b}, response: {content: b}}",
            (2, Some(1)),
        ),
        (
            "one that fits and has had its turn",
            "{match: {model: m, user_message: b}, response: {content: a}},
             {when: {nth: 2}, response: {content: b}}",
            (2, Some(1)),
        ),
    ] {
        assert_eq!(nearest(&format!("fixtures: [{text}]")), expected, "{name}");
    }
}

#[test]
fn conditions_of_all_kinds_are_counted_together() {
    let text = "fixtures: [{match: {model: a, user_message: b, temperature: 1,
        headers: {a: b, c: d}, metadata: {e: f}}, response: {content: a}}]";
    let book = book(text);
    assert_eq!(book.pages[0].fixture.matching.as_ref().unwrap().conditions(), 6);
}

#[test]
fn every_condition_of_when_must_hold() {
    let second = Duration::from_secs(1);
    for (text, holds) in [
        ("{}", [true, true, true, true]),
        ("{nth: 2}", [false, true, false, false]),
        ("{every: 2}", [false, true, false, true]),
        ("{first: 2}", [true, true, false, false]),
        ("{first: 3, every: 2}", [false, true, false, false]),
        ("{nth: 3, first: 2}", [false; 4]),
        ("{after: 1s}", [true; 4]),
        ("{after: 1001ms}", [false; 4]),
        ("{until: 1s}", [false; 4]),
        ("{until: 1001ms}", [true; 4]),
        ("{until: 1s, nth: 2}", [false; 4]),
        ("{after: 2s, nth: 2}", [false; 4]),
        ("{probability: 0}", [false; 4]),
        ("{probability: 1}", [true; 4]),
        ("{probability: 1, nth: 2}", [false, true, false, false]),
        ("{probability: 0, nth: 2}", [false; 4]),
    ] {
        let book = book(&format!("fixtures: [{{when: {text}, response: {{content: a}}}}]"));
        let when = &book.pages[0].fixture.when;
        let held = [1, 2, 3, 4].map(|ordinal| when.holds(ordinal, second, Seed(1), 0));
        assert_eq!(held, holds, "{text}");
    }
}

#[test]
fn a_match_without_conditions_answers_everything() {
    let text = "fixtures:
           - {match: {}, response: {content: a}}
           - {match: {model: b}, response: {content: b}}";
    assert_eq!(book(text).never_reached(), [(1, 0)]);
    assert!(Book::default().is_empty());
}

#[test]
fn a_book_holds_its_recordings_and_begins_them_anew() {
    let text = "recordings:
           - {request: {verb: GET, target: /a}, response: {status: 200}}
           - {request: {verb: GET, target: /a}, response: {status: 503}}";
    let book = book(text);
    let asked = crate::llm::RecordedRequest::new("GET", "/a", b"");
    let status = || book.recordings().find(&asked).map(|found| found.response.status);
    assert_eq!((status(), status()), (Some(200), Some(503)));
    book.reset();
    assert_eq!((status(), book.recordings().len()), (Some(200), 2));
}

#[test]
fn a_template_may_come_to_sixteen_mebibytes() {
    let template = crate::llm::Template::try_from("{{ user_message }}".to_owned()).unwrap();
    let most = 16 << 20;
    for (length, is_good) in [(most, true), (most + 1, false)] {
        let filled = template.render(&request("m", &"x".repeat(length)));
        assert_eq!(filled.is_ok(), is_good, "{length}");
    }
}
