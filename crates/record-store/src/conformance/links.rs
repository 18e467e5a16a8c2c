//! Rules about links.

use super::{Bench, Held, id, refused, rules, same};
use crate::{Evidence, LinkFilter, NewLink, NewRecord};

rules!(|can| can.links =>
    links_are_found_from_both_ends,
    a_link_to_nothing_is_refused_and_leaves_nothing,
    links_go_with_their_records,
);

async fn three(bench: &Bench<'_>) -> Held {
    for name in ["a", "b", "c"] {
        bench.store.put(NewRecord::new("notes", name).id(id(name)?)).await?;
    }
    Ok(())
}

async fn links_are_found_from_both_ends(bench: &Bench<'_>) -> Held {
    three(bench).await?;
    let ab = bench.store.link(NewLink::new(id("a")?, "cites", id("b")?).meta("page", 3)).await?;
    let bc = bench.store.link(NewLink::new(id("b")?, "refutes", id("c")?)).await?;
    let evidence = Evidence { execution_id: Some("run-1".to_owned()), ..Evidence::default() };
    let ac = bench.store.link_evidence(id("a")?, id("c")?, &evidence).await?;
    same("its facts", ac.meta.get("execution_id").and_then(|value| value.as_str()), Some("run-1"))?;
    let found = async |filter: LinkFilter| bench.store.links(&filter).await;
    same("at b", found(LinkFilter::of(id("b")?)).await?, vec![ab.clone(), bc.clone()])?;
    let from_a = LinkFilter { source: Some(id("a")?), ..LinkFilter::default() };
    same("from a", found(from_a.clone()).await?, vec![ab.clone(), ac.clone()])?;
    let to_c = LinkFilter { target: Some(id("c")?), ..LinkFilter::default() };
    same("to c", found(to_c).await?, vec![bc, ac.clone()])?;
    let evidence = LinkFilter { relation: Some("evidence".to_owned()), ..from_a };
    same("evidence from a", found(evidence).await?, vec![ac])?;
    same("removing", bench.store.unlink(&ab.id).await?, true)?;
    same("removing again", bench.store.unlink(&ab.id).await?, false)?;
    same("the rest", found(LinkFilter::default()).await?.len(), 2)
}

async fn a_link_to_nothing_is_refused_and_leaves_nothing(bench: &Bench<'_>) -> Held {
    three(bench).await?;
    let links =
        vec![NewLink::new(id("a")?, "cites", id("b")?), NewLink::new(id("a")?, "cites", id("nothing")?)];
    refused("one of two links to nothing", bench.store.link_many(links).await, "records.not_found")?;
    refused("no relation", bench.store.link(NewLink::new(id("a")?, " ", id("b")?)).await, "value.blank")?;
    same("the links", bench.store.links(&LinkFilter::default()).await?, vec![])
}

async fn links_go_with_their_records(bench: &Bench<'_>) -> Held {
    three(bench).await?;
    bench.store.link(NewLink::new(id("a")?, "cites", id("b")?)).await?;
    let kept = bench.store.link(NewLink::new(id("a")?, "cites", id("c")?)).await?;
    bench.store.delete(&id("b")?, None).await?;
    same("the links", bench.store.links(&LinkFilter::default()).await?, vec![kept.clone()])?;
    let record = bench.store.describe(&id("c")?).await?;
    bench.store.put(NewRecord::update(&record, "changed")).await?;
    same("after an update", bench.store.links(&LinkFilter::of(id("c")?)).await?, vec![kept])
}
