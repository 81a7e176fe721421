// SPDX-License-Identifier: MIT
use crate::options::Plan;
use crate::server::{Entry, CONTENDERS};
use crate::workload::Figures;

/// A figure of a contender, from each round.
type Series = (String, Vec<f64>);

fn median_and_best(rounds: &[f64]) -> (f64, f64) {
    let mut sorted = rounds.to_vec();
    sorted.sort_by(f64::total_cmp);
    (sorted[(sorted.len() - 1) / 2], sorted[0])
}

fn add(all: &mut Vec<Series>, found: Figures) {
    for (name, value) in found {
        match all.iter_mut().find(|series| series.0 == name) {
            Some(series) => series.1.push(value),
            None => all.push((name, vec![value])),
        }
    }
}

/// Lets contenders take turns, and returns their figures.
fn measure(chosen: &[&Entry], alive: usize, threads: usize, plan: &Plan) -> Result<Vec<Vec<Series>>, String> {
    let mut workloads = Vec::new();
    for each in chosen {
        let mut run = each.workload(alive, threads)?;
        run("construct", 0)?;
        run("fill", 30)?;
        workloads.push(run);
    }
    let mut all = vec![Vec::new(); chosen.len()];
    for round in 0..plan.rounds + 1 {
        for (run, series) in workloads.iter_mut().zip(&mut all) {
            for task in ["churn", "find", "iterate"] {
                let found = run(task, plan.objects)?;
                if round != 0 {
                    add(series, found); // the first only warms up
                }
            }
        }
    }
    Ok(all)
}

pub fn compare(plan: &Plan) -> Result<(), String> {
    let mut rows = Vec::new();
    for &alive in &plan.sizes {
        for &threads in &plan.threads {
            let chosen: Vec<&Entry> = CONTENDERS
                .iter()
                .filter(|each| each.name.contains(&plan.filter) && threads <= each.most_threads as usize)
                .collect();
            println!("{alive} alive, threads: {threads}; median [best round]");
            for (each, all) in chosen.iter().zip(measure(&chosen, alive, threads, plan)?) {
                print!("  {:<24}", each.name);
                let mut figures = Vec::new();
                for (name, rounds) in &all {
                    let (median, best) = median_and_best(rounds);
                    print!("  {name} {median:.2} [{best:.2}]");
                    figures.push(format!("\"{name}\": {{\"median\": {median}, \"best\": {best}}}"));
                }
                println!();
                rows.push(format!(
                    "{{\"part\": \"frames\", \"alive\": {alive}, \"threads\": {threads}, \"contender\": \"{}\", \"figures\": {{{}}}}}",
                    each.name,
                    figures.join(", ")
                ));
            }
        }
    }
    if let Some(name) = &plan.json {
        let text = format!("{{\"rounds\": {}, \"results\": [\n{}\n]}}\n", plan.rounds, rows.join(",\n"));
        std::fs::write(name, text).map_err(|error| format!("--json: {name}: {error}"))?;
    }
    Ok(())
}
