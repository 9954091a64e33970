import { execFileSync } from "node:child_process";
import type { ValidateReport } from "@kubectl-crdx/engine/reports";
import { findProgram } from "kubectl-crdx";
import { expect, test } from "vitest";

test("a report has the published types", () => {
  const args = ["validate", "--offline", "-o", "json", "--crds", "../kites.crd.yaml", "-"];
  const kite = JSON.stringify({ apiVersion: "toys.example.com/v1", kind: "Kite", metadata: { name: "a" }, spec: { length: 3 } });
  const report: ValidateReport = JSON.parse(execFileSync(findProgram(), args, { input: kite, encoding: "utf8" }));
  expect(report.summary.accepted).toBe(1);
});
