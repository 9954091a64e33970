//! Counts of right answers.

use crate::engines::Engine;

/// The right answers of each engine.
#[derive(Clone, Debug, Default)]
pub struct Score {
    pub questions: usize,
    pub right: [usize; 3],
}

impl Score {
    pub fn add(&mut self, right: [bool; 3]) {
        self.questions += 1;
        for (count, right) in self.right.iter_mut().zip(right) {
            *count += usize::from(right);
        }
    }

    pub fn plus(&mut self, other: &Self) {
        self.questions += other.questions;
        for (count, other) in self.right.iter_mut().zip(other.right) {
            *count += other;
        }
    }

    pub fn print(&self, title: &str) {
        let [cel, kube_cel, crdx_cel] = self.right;
        println!("| {title} | {} | {cel} | {kube_cel} | {crdx_cel} |", self.questions);
    }
}

pub fn heading(title: &str, engines: [Engine; 3]) {
    println!("\n| {title} | number | {} |\n|---|---|---|---|---|", engines.map(|engine| engine.name).join(" | "));
}
