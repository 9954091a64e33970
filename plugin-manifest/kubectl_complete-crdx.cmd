@echo off
rem kubectl runs this script to complete "kubectl crdx ...". It prints the candidates and a directive for the shell.
kubectl-crdx.exe __complete -- %*
