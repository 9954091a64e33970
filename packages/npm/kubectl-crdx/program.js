#!/usr/bin/env node
// Runs the program of the platform with the same arguments, standard streams and exit code.
import { spawnSync } from "node:child_process";
import { findProgram } from "./index.js";

const { status, signal, error } = spawnSync(findProgram(), process.argv.slice(2), { stdio: "inherit" });
if (error) throw error;
if (signal) process.kill(process.pid, signal);
process.exitCode = status ?? 2;
