//! A history under any sequence of its operations is one that every provider takes, and its log says the same.

use conversation::{Cut, Ending, History, Record, Refused, compact};
use proptest::collection::vec;
use proptest::prelude::*;
use testkit::Random;

use crate::{assert_valid, id, making};

/// A history with the log of all that happened to it.
struct Grown {
    history: History,
    log: Vec<Record>,
    cuts: Vec<Cut>,
    prompts: usize,
}

impl Grown {
    fn new() -> Grown {
        let log = vec![Record::Opening { text: "the rules of the house".to_owned() }];
        Grown { history: History::new("the rules of the house"), log, cuts: Vec::new(), prompts: 0 }
    }

    fn keep(&mut self, record: Result<Record, Refused>) {
        self.log.extend(record);
    }

    fn some_id(&self, random: &mut Random) -> conversation::ExchangeId {
        id(random.below(self.prompts + 1))
    }

    fn operate(&mut self, random: &mut Random) {
        match random.below(14) {
            0..3 => {
                self.prompts += 1;
                let record = self.history.prompt(id(self.prompts), &making::words(random));
                self.keep(record);
            }
            3..8 => self.reply(random),
            8 => {
                let record = self.history.note(&making::words(random));
                self.keep(record);
            }
            9 => self.log.extend(self.history.give_up("it was interrupted")),
            10 => {
                let id = self.some_id(random);
                let pinned = random.below(2) == 0;
                let record = if pinned { self.history.pin(&id) } else { self.history.unpin(&id) };
                self.keep(record);
            }
            11 => self.compact(random),
            12 => {
                if let Some(cut) = self.cuts.pop() {
                    let record = self.history.restore(cut);
                    assert!(record.is_ok(), "nothing that was cut is used again: {record:?}");
                    self.keep(record);
                }
            }
            _ => {
                if let Ok((_, record)) = self.history.rewind(&self.some_id(random)) {
                    self.log.push(record);
                }
            }
        }
    }

    fn reply(&mut self, random: &mut Random) {
        let reply = self.history.admit(making::blocks(random));
        if reply.calls().is_empty() {
            let record = match random.below(4) {
                0 => self.history.pause(reply),
                _ => self.history.say(reply),
            };
            return self.keep(record);
        }
        let results = making::results(random, &reply);
        if self.history.round(reply.clone(), results.clone()).is_ok() {
            let blocks = reply.blocks().to_vec();
            self.log.push(Record::Reply { blocks, ending: Ending::Complete });
            self.log.extend(results.into_iter().map(Record::Result));
        }
    }

    fn compact(&mut self, random: &mut Random) {
        let ids = (0..3).map(|_| self.some_id(random)).collect::<std::collections::BTreeSet<_>>();
        if let Ok(staged) = compact::stage(&self.history, ids.into_iter().collect(), "in short") {
            let (cut, record) = self.history.compact(staged).unwrap();
            self.cuts.push(cut);
            self.log.push(record);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 5000, ..ProptestConfig::default() })]

    #[test]
    fn any_sequence_of_operations_leaves_what_every_provider_takes_and_what_its_log_tells(
        operations in vec(any::<u64>(), 0..24),
        tear in any::<u64>(),
    ) {
        let mut grown = Grown::new();
        operations.into_iter().for_each(|seed| grown.operate(&mut Random::new(seed)));
        assert_valid(&grown.history);
        let loaded = History::load(grown.log.clone());
        assert_eq!(loaded.repairs, []);
        assert_eq!(loaded.history, grown.history);
        torn(&mut Random::new(tear), grown.log);
    }
}

/// A log that was cut, or lost lines, or has them twice or in another order, is still a history.
fn torn(random: &mut Random, mut log: Vec<Record>) {
    for _ in 0..=random.below(3) {
        if log.is_empty() {
            break;
        }
        let (one, other) = (random.below(log.len()), random.below(log.len()));
        match random.below(4) {
            0 => log.truncate(one),
            1 => drop(log.remove(one)),
            2 => log.swap(one, other),
            _ => log.insert(other, log[one].clone()),
        }
    }
    let blocks = making::blocks(random);
    log.push(Record::Reply { blocks, ending: Ending::Complete });
    assert_valid(&History::load(log).history);
}

#[test]
fn what_does_not_fit_the_moment_is_refused_and_changes_nothing() {
    let mut history = History::new("");
    let said = |history: &History| history.admit(vec![llm::Block::text("yes")]);
    assert_eq!(history.say(said(&history)), Err(Refused::NotNow));
    assert_eq!(history.note("x"), Err(Refused::NotNow));
    assert_eq!(history.give_up("x"), None);
    assert_eq!(history.prompt(id(1), " \n"), Err(Refused::Blank));
    history.prompt(id(1), "hi").unwrap();
    assert_eq!(history.prompt(id(2), "hi"), Err(Refused::NotNow));
    assert_eq!(history.note("x"), Err(Refused::NotNow));
    assert_eq!(history.round(said(&history), vec![]), Err(Refused::Mismatch));
    history.say(said(&history)).unwrap();
    assert_eq!(history.say(said(&history)), Err(Refused::NotNow));
    assert_eq!(history.prompt(id(1), "again"), Err(Refused::Taken("1".to_owned())));
    assert_eq!(history.rewind(&id(9)).unwrap_err(), Refused::Unknown(id(9)));
    assert_eq!(history.exchanges().len(), 1);
}

#[test]
fn a_pause_goes_on_in_the_same_reply_and_what_the_provider_never_answered_goes_when_it_ends() {
    let raw = |json: serde_json::Value| {
        llm::Block::from_raw(llm::Wire::Anthropic, serde_json::value::to_raw_value(&json).unwrap())
    };
    let search =
        raw(serde_json::json!({"type": "server_tool_use", "id": "s", "name": "web_search", "input": {}}));
    let found = raw(serde_json::json!({"type": "web_search_tool_result", "tool_use_id": "s", "content": []}));
    let start = || {
        let mut history = History::new("");
        history.prompt(id(1), "look").unwrap();
        history.pause(history.admit(vec![llm::Block::text("I search."), search.clone()])).unwrap();
        history
    };
    let mut history = start();
    assert!(history.open().is_some());
    history.say(history.admit(vec![found.clone(), llm::Block::text("There.")])).unwrap();
    let all: Vec<_> = history.exchanges()[0].blocks().cloned().collect();
    assert_eq!(all, [llm::Block::text("I search."), search.clone(), found, llm::Block::text("There.")]);
    assert_valid(&history);
    let mut history = start();
    history.give_up("the user interrupted it").unwrap();
    assert_eq!(
        history.exchanges()[0].answer().unwrap(),
        "I search.[This turn ended here: the user interrupted it]"
    );
    assert_valid(&history);
}
