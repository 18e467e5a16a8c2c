//! Rules about search by words and about retrieval.

use serde_json::json;

use super::{Bench, Broken, Held, id, refused, rules, same};
use crate::{BodyState, NewRecord, RecordFilter, RetrieveRequest, SearchMethod, SearchRequest};

rules!(|can| can.text_search =>
    words_of_every_script_and_identifiers_are_found,
    nothing_in_a_query_is_syntax,
    structured_values_are_found_by_their_words,
    records_with_every_word_come_first,
    a_hit_says_where_its_words_are,
    an_update_is_found_by_its_new_words_only,
    a_filter_bounds_a_search,
    retrieval_stays_within_its_budget_and_says_what_it_leaves_out,
    retrieval_without_a_hit_is_empty,
    what_the_store_cannot_do_is_refused,
);

async fn found(bench: &Bench<'_>, query: &str) -> Result<Vec<String>, Broken> {
    let hits = bench.store.search(&SearchRequest::new(query)).await?;
    Ok(hits.into_iter().map(|hit| hit.record.id.to_string()).collect())
}

async fn put(bench: &Bench<'_>, texts: &[(&str, &str)]) -> Held {
    for (name, text) in texts {
        bench.store.put(NewRecord::new("docs", *text).id(id(name)?)).await?;
    }
    Ok(())
}

async fn words_of_every_script_and_identifiers_are_found(bench: &Bench<'_>) -> Held {
    put(
        bench,
        &[
            ("d1", "设备维护手册：每周检查冷却水泵，更换密封圈。"),
            ("d2", "Release 2.4.1 fixes https://intranet.example/wiki?id=7 and C++ builds."),
            ("d3", "fn parseHttpRequest() -> retry_limit"),
            ("d4", "Das Maß der Straße; naïve café"),
        ],
    )
    .await?;
    for (query, expected) in [
        ("冷却水泵", "d1"),
        ("密封", "d1"),
        ("2.4.1", "d2"),
        ("C++", "d2"),
        ("parse_http_request", "d3"),
        ("retry-limit", "d3"),
        ("STRASSE", "d4"),
        ("naive CAFE", "d4"),
    ] {
        same(query, found(bench, query).await?.first().map(String::as_str), Some(expected))?;
    }
    Ok(())
}

async fn nothing_in_a_query_is_syntax(bench: &Bench<'_>) -> Held {
    put(
        bench,
        &[("d1", "the quick brown fox (jumps) AND \"says\" NEAR body: x* ^y"), ("d2", "another text")],
    )
    .await?;
    for query in [
        "\"quick brown",
        "fox)",
        "(fox",
        "quick*",
        "body:quick",
        "NEAR(fox jumps)",
        "fox AND",
        "-quick",
        "^fox",
    ] {
        same(query, found(bench, query).await?, vec!["d1".to_owned()])?;
    }
    for query in ["", "   ", "\"", "()", "* ^ :"] {
        same(query, found(bench, query).await?, vec![])?;
    }
    Ok(())
}

async fn structured_values_are_found_by_their_words(bench: &Bench<'_>) -> Held {
    let value = json!({"greeting": "say \"hi\"\nplease", "nested": {"coolant": [12.5, true]}});
    bench.store.put(NewRecord::new("docs", value).id(id("j")?)).await?;
    bench.store.put(NewRecord::new("docs", b"greeting coolant".to_vec()).id(id("b")?)).await?;
    for query in ["say \"hi\"", "please", "coolant", "12.5", "greeting"] {
        same(query, found(bench, query).await?, vec!["j".to_owned()])?;
    }
    Ok(())
}

async fn records_with_every_word_come_first(bench: &Bench<'_>) -> Held {
    put(
        bench,
        &[
            (
                "both",
                "a long text about many other things in which the pump and somewhere also its seal is named",
            ),
            ("one", "pump pump pump"),
            ("none", "nothing of that"),
        ],
    )
    .await?;
    let hits = bench.store.search(&SearchRequest::new("pump seal")).await?;
    let seen: Vec<_> = hits.iter().map(|hit| (hit.record.id.as_str(), hit.all_words)).collect();
    same("the hits", seen, vec![("both", true), ("one", false)])?;
    let one = bench.store.search(&SearchRequest::new("pump seal").limit(1)).await?;
    same("a search for one", one.len(), 1)
}

async fn a_hit_says_where_its_words_are(bench: &Bench<'_>) -> Held {
    let body = format!("{} seal", "filler ".repeat(20_000));
    bench.store.put(NewRecord::new("docs", "the seal").summary("Pump check").id(id("short")?)).await?;
    bench.store.put(NewRecord::new("docs", body).summary("Pump").id(id("long")?)).await?;
    bench.store.put(NewRecord::new("docs", "检查冷却水泵").id(id("han")?)).await?;
    let hits = bench.store.search(&SearchRequest::new("水泵")).await?;
    // Pairs of characters find a word; its single characters would say nothing.
    same(
        "a word of two characters",
        hits.into_iter().map(|hit| hit.reason.body).collect(),
        vec![vec!["水泵".to_owned()]],
    )?;
    for hit in bench.store.search(&SearchRequest::new("pump seal")).await? {
        same("in the summary", hit.reason.summary, vec!["pump".to_owned()])?;
        same("in the body", hit.reason.body, vec!["seal".to_owned()])?;
    }
    Ok(())
}

async fn an_update_is_found_by_its_new_words_only(bench: &Bench<'_>) -> Held {
    let first = bench.store.put(NewRecord::new("docs", "alpha").summary("gamma")).await?;
    let mut update = NewRecord::update(&first, "beta");
    update.summary = None;
    bench.store.put(update).await?;
    same("the new word", found(bench, "beta").await?.len(), 1)?;
    same("the old word", found(bench, "alpha").await?.len(), 0)?;
    same("the old summary", found(bench, "gamma").await?.len(), 0)?;
    bench.store.delete(&first.id, None).await?;
    same("after its deletion", found(bench, "beta").await?.len(), 0)
}

async fn a_filter_bounds_a_search(bench: &Bench<'_>) -> Held {
    for name in ["a", "b", "c"] {
        let record = NewRecord::new(format!("col-{name}"), "the same pump").id(id(name)?).tag(name);
        bench.store.put(record.scope("tenant", name)).await?;
    }
    for filter in [
        RecordFilter::new().collection("col-b"),
        RecordFilter::new().scope("tenant", "b"),
        RecordFilter::new().tag("b"),
        RecordFilter::new().id(id("b")?),
    ] {
        let hits = bench.store.search(&SearchRequest::new("pump").filter(filter)).await?;
        same(
            "the hits",
            hits.into_iter().map(|hit| hit.record.id.to_string()).collect(),
            vec!["b".to_owned()],
        )?;
    }
    let unknown = RecordFilter::new().tag("never borne");
    same("an unknown tag", bench.store.search(&SearchRequest::new("pump").filter(unknown)).await?.len(), 0)
}

async fn retrieval_stays_within_its_budget_and_says_what_it_leaves_out(bench: &Bench<'_>) -> Held {
    put(bench, &[("short", "the pump"), ("long", &"pump 冷却 ".repeat(500))]).await?;
    let fields: serde_json::Map<_, _> =
        (0..200).map(|number| (format!("pump{number}"), json!("some value"))).collect();
    bench
        .store
        .put(NewRecord::new("docs", serde_json::Value::Object(fields)).id(id("json")?).summary("pump"))
        .await?;
    bench.store.put(NewRecord::new("docs", vec![1_u8, 2]).id(id("bytes")?).summary("pump")).await?;
    let request = RetrieveRequest::new("pump").budget_chars(900).item_chars(400);
    let package = bench.store.retrieve(&request).await?;
    let used: usize = package.items.iter().map(|item| item.content.chars().count()).sum();
    same("the chars used", used, package.used_chars)?;
    if used > 900 || package.items.iter().any(|item| item.content.chars().count() > 400) {
        return Err(Broken(format!("{used} chars in a budget of 900, or more than 400 in one item")));
    }
    same("the items", package.items.len(), 4)?;
    for item in package.items {
        let expected = match item.record.id.as_str() {
            "short" => BodyState::Whole,
            "long" => BodyState::Beginning,
            "json" => BodyState::Projected,
            _ => BodyState::Reference,
        };
        same(item.record.id.as_str(), item.body_state, expected)?;
        same("truncated", item.truncated, expected != BodyState::Whole)?;
    }
    let package = bench.store.retrieve(&RetrieveRequest::new("pump").budget_chars(8)).await?;
    let left_out: usize = package.omitted.iter().map(|omitted| omitted.count).sum();
    same("shown and left out", package.items.len() + left_out, 4)
}

async fn retrieval_without_a_hit_is_empty(bench: &Bench<'_>) -> Held {
    put(bench, &[("d1", "the pump")]).await?;
    let package = bench.store.retrieve(&RetrieveRequest::new("unrelated")).await?;
    same("the items", package.items.len(), 0)?;
    let newest = bench.store.retrieve(&RetrieveRequest::new(" ")).await?;
    same("without a word: the newest", newest.items.len(), 1)?;
    same("and a diagnostic", newest.diagnostics.len(), 1)
}

async fn what_the_store_cannot_do_is_refused(bench: &Bench<'_>) -> Held {
    if bench.store.capabilities().vectors {
        return Ok(());
    }
    for method in [SearchMethod::Vector, SearchMethod::Hybrid] {
        let search = bench.store.search(&SearchRequest::new("pump").method(method)).await;
        refused("a search by embeddings", search, "records.unsupported")?;
    }
    refused("no hits", bench.store.search(&SearchRequest::new("pump").limit(0)).await, "value.invalid")
}
