//! Several sources, told by a script, on a clock of the test.

use std::collections::VecDeque;

use tokio::time::Instant;

use super::*;

enum Say {
    Answer(&'static str),
    Fail(Kind, Option<Duration>),
    /// After so much of the answer.
    FailAfter(Vec<Delta>, Kind),
}

struct Scripted {
    name: &'static str,
    say: Mutex<VecDeque<Say>>,
    asked: Mutex<Vec<Duration>>,
    began: Instant,
}

impl Scripted {
    fn new(name: &'static str, say: Vec<Say>) -> Arc<Self> {
        Arc::new(Self { name, say: Mutex::new(say.into()), asked: Mutex::default(), began: Instant::now() })
    }

    fn asked(&self) -> Vec<u128> {
        self.asked.lock().unwrap().iter().map(Duration::as_millis).collect()
    }
}

impl LlmSource for Scripted {
    fn name(&self) -> String {
        self.name.into()
    }

    fn abilities(&self) -> Abilities {
        Abilities { context_tokens: self.name.len() as u64, ..Abilities::default() }
    }

    fn ask(&self, _request: SourceRequest) -> BoxFuture<'static, Result<DeltaStream, SourceError>> {
        self.asked.lock().unwrap().push(self.began.elapsed());
        let error = |kind, retry_after| SourceError {
            kind,
            source_name: self.name.into(),
            message: format!("{kind:?}"),
            retry_after,
        };
        let answer = match self.say.lock().unwrap().pop_front().unwrap_or(Say::Answer("more")) {
            Say::Answer(text) => Ok(vec![Ok(Delta::Text(text.into())), Ok(Delta::End(kernel::ports::EndReason::Stop))]),
            Say::Fail(kind, retry_after) => Err(error(kind, retry_after)),
            Say::FailAfter(deltas, kind) => {
                Ok(deltas.into_iter().map(Ok).chain([Err(error(kind, None))]).collect::<Vec<_>>())
            }
        };
        Box::pin(async move { answer.map(|items| Box::pin(stream::iter(items)) as DeltaStream) })
    }
}

fn sources(list: &[&Arc<Scripted>]) -> Sources {
    let began = Instant::now();
    let pace = Pace {
        now_ms: Arc::new(move || i64::try_from(began.elapsed().as_millis()).unwrap()),
        chance: Arc::new(|| 0.5),
    };
    Sources::new(list.iter().map(|source| (*source).clone() as Arc<dyn LlmSource>).collect(), pace)
}

async fn ask(sources: &Sources) -> Result<String, SourceError> {
    let mut stream = sources.ask(SourceRequest::default()).await?;
    let mut text = String::new();
    while let Some(delta) = stream.next().await {
        if let Delta::Text(more) = delta? {
            text.push_str(&more);
        }
    }
    Ok(text)
}

const SECOND: Duration = Duration::from_secs(1);

#[tokio::test(start_paused = true)]
async fn a_passing_error_is_tried_again_after_a_pause_with_chance_in_it() {
    let a = Scripted::new("a", vec![Say::Fail(Kind::Overloaded, None), Say::Answer("fine")]);
    let b = Scripted::new("b", vec![]);
    assert_eq!(ask(&sources(&[&a, &b])).await.unwrap(), "fine");
    assert_eq!((a.asked(), b.asked()), (vec![0, 500], vec![]));
}

#[tokio::test(start_paused = true)]
async fn retry_after_is_waited_for_to_the_millisecond_where_it_is_short() {
    let a = Scripted::new("a", vec![Say::Fail(Kind::RateLimited, Some(3 * SECOND)), Say::Answer("fine")]);
    assert_eq!(ask(&sources(&[&a])).await.unwrap(), "fine");
    assert_eq!(a.asked(), [0, 3000]);
}

#[tokio::test(start_paused = true)]
async fn a_long_retry_after_leads_to_the_next_source_and_holds_until_it_is_over() {
    let a = Scripted::new("a", vec![Say::Fail(Kind::RateLimited, Some(100 * SECOND))]);
    let b = Scripted::new("b", vec![]);
    let sources = sources(&[&a, &b]);
    ask(&sources).await.unwrap();
    tokio::time::advance(99 * SECOND).await;
    ask(&sources).await.unwrap();
    tokio::time::advance(SECOND).await;
    ask(&sources).await.unwrap();
    assert_eq!((a.asked(), b.asked()), (vec![0, 100_000], vec![0, 99_000]));
}

#[tokio::test(start_paused = true)]
async fn the_preferred_source_is_asked_again_once_its_rest_is_over_and_rests_double_up_to_half_an_hour() {
    let failing = (0..9).map(|_| Say::Fail(Kind::Timeout, None)).chain([Say::Answer("back")]).collect();
    let (a, b) = (Scripted::new("a", failing), Scripted::new("b", vec![]));
    let sources = sources(&[&a, &b]);
    let mut rests = Vec::new();
    for _ in 0..9 {
        ask(&sources).await.unwrap();
        let State::Resting { until_ms } = sources.status()[0].state else { panic!("not resting") };
        let now_ms = (sources.shared.pace.now_ms)();
        rests.push((until_ms - now_ms) / 1000);
        assert_eq!(sources.current_source(), "a");
        assert_eq!(LlmSource::name(&sources), "b");
        tokio::time::advance(Duration::from_millis(u64::try_from(until_ms - now_ms).unwrap())).await;
    }
    assert_eq!(rests, [30, 60, 120, 240, 480, 960, 1800, 1800, 1800]);
    assert_eq!(ask(&sources).await.unwrap(), "back");
    assert_eq!(sources.status()[0].state, State::Ready);
    assert_eq!((a.asked().len(), b.asked().len()), (10, 9));
}

#[tokio::test(start_paused = true)]
async fn a_refused_key_disables_a_source_until_the_settings_change() {
    let (a, b) = (Scripted::new("a", vec![Say::Fail(Kind::Auth, None)]), Scripted::new("b", vec![]));
    let sources = sources(&[&a, &b]);
    ask(&sources).await.unwrap();
    tokio::time::advance(3600 * 24 * SECOND).await;
    ask(&sources).await.unwrap();
    assert_eq!((a.asked().len(), sources.status()[0].state), (1, State::Disabled));
    sources.replace(vec![a.clone(), b.clone()]);
    ask(&sources).await.unwrap();
    assert_eq!(a.asked().len(), 2);
}

#[tokio::test(start_paused = true)]
async fn a_failure_in_the_middle_is_passed_on_as_cut_and_no_other_source_is_asked() {
    let begun = vec![Delta::Usage(Default::default()), Delta::Text("half".into())];
    let broken = || Say::FailAfter(begun.clone(), Kind::Overloaded);
    let (a, b) = (Scripted::new("a", vec![broken(), broken()]), Scripted::new("b", vec![]));
    let sources = sources(&[&a, &b]);
    let error = ask(&sources).await.unwrap_err();
    assert_eq!((error.kind, error.source_name.as_str()), (Kind::Cut, "a"));
    assert!(b.asked().is_empty());
    assert_eq!(sources.status()[0].state, State::Ready, "lines break: it is asked again at once");
    ask(&sources).await.unwrap_err();
    assert!(matches!(sources.status()[0].state, State::Resting { .. }), "a second time in a row it rests");
}

#[tokio::test(start_paused = true)]
async fn usage_alone_is_no_answer_yet() {
    let usage = || Say::FailAfter(vec![Delta::Usage(Default::default())], Kind::Overloaded);
    let (a, b) = (Scripted::new("a", vec![usage(), usage()]), Scripted::new("b", vec![Say::Answer("b's")]));
    assert_eq!(ask(&sources(&[&a, &b])).await.unwrap(), "b's");
    assert_eq!(a.asked().len(), 2);
}

#[tokio::test(start_paused = true)]
async fn a_conversation_that_is_too_long_goes_back_to_the_kernel_and_a_bad_request_to_the_next_source() {
    let (a, b) = (Scripted::new("a", vec![Say::Fail(Kind::ContextTooLong, None)]), Scripted::new("b", vec![]));
    let too_long = sources(&[&a, &b]);
    assert_eq!(ask(&too_long).await.unwrap_err().kind, Kind::ContextTooLong);
    assert_eq!(too_long.status()[0].state, State::Ready);
    let (a, b) = (Scripted::new("a", vec![Say::Fail(Kind::BadRequest, None)]), Scripted::new("b", vec![]));
    let sources = sources(&[&a, &b]);
    assert_eq!(ask(&sources).await.unwrap(), "more");
    assert_eq!(sources.status()[0].state, State::Ready);
}

#[tokio::test(start_paused = true)]
async fn when_all_fail_the_preferred_ones_error_comes_back_and_the_others_are_named() {
    let fails = || vec![Say::Fail(Kind::Timeout, None)];
    let (a, b) = (Scripted::new("a", fails()), Scripted::new("b", vec![Say::Fail(Kind::Quota, None)]));
    let sources = sources(&[&a, &b]);
    let error = ask(&sources).await.unwrap_err();
    assert_eq!((error.kind, error.source_name.as_str()), (Kind::Timeout, "a"));
    assert!(error.message.contains("b: Quota"), "{error}");
    // Both rest now, and still somebody who asks is not sent away unheard.
    assert_eq!(ask(&sources).await.unwrap(), "more");
    assert_eq!((a.asked().len(), b.asked().len()), (2, 1));
}

#[tokio::test(start_paused = true)]
async fn a_provider_that_said_how_long_to_wait_is_not_asked_before_by_anybody() {
    let a = Scripted::new("a", vec![Say::Fail(Kind::RateLimited, Some(60 * SECOND))]);
    let sources = sources(&[&a]);
    ask(&sources).await.unwrap_err();
    tokio::time::advance(20 * SECOND).await;
    let error = ask(&sources).await.unwrap_err();
    assert_eq!((error.kind, error.retry_after), (Kind::RateLimited, Some(40 * SECOND)));
    assert_eq!(a.asked().len(), 1);
}

#[tokio::test(start_paused = true)]
async fn a_source_is_listed_and_chosen_while_a_request_hangs() {
    struct Hangs;
    impl LlmSource for Hangs {
        fn name(&self) -> String {
            "hangs".into()
        }
        fn abilities(&self) -> Abilities {
            Abilities::default()
        }
        fn ask(&self, _request: SourceRequest) -> BoxFuture<'static, Result<DeltaStream, SourceError>> {
            Box::pin(std::future::pending())
        }
    }
    let b = Scripted::new("bb", vec![]);
    let sources = sources(&[&b]);
    sources.replace(vec![Arc::new(Hangs), b.clone()]);
    let hanging = tokio::spawn(sources.ask(SourceRequest::default()));
    tokio::task::yield_now().await;
    assert_eq!(sources.list_sources(), ["hangs", "bb"]);
    assert_eq!(sources.current_source(), "hangs");
    assert!(sources.set_source("nobody").unwrap_err().message.contains("hangs, bb"));
    sources.set_source("bb").unwrap();
    assert_eq!((sources.current_source().as_str(), sources.abilities().context_tokens), ("bb", 2));
    assert_eq!(ask(&sources).await.unwrap(), "more");
    hanging.abort();
}

#[tokio::test(start_paused = true)]
async fn without_a_source_the_error_says_what_to_do() {
    let error = ask(&sources(&[])).await.unwrap_err();
    assert!(error.message.contains("add one"), "{error}");
}
