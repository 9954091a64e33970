# Completion of kubectl-crdx in PowerShell: kubectl-crdx completion powershell | Out-String | Invoke-Expression

Register-ArgumentCompleter -Native -CommandName 'kubectl-crdx' -ScriptBlock {
    param($wordToComplete, $commandAst, $cursorPosition)
    $words = @($commandAst.CommandElements | Select-Object -Skip 1 |
        Where-Object { $_.Extent.EndOffset -le $cursorPosition } | ForEach-Object { $_.Extent.Text })
    if ($wordToComplete -eq '') {
        # Earlier versions leave out empty arguments.
        $words += if ($PSVersionTable.PSVersion -ge [version]'7.3') { '' } else { '""' }
    }
    foreach ($line in & $commandAst.CommandElements[0].Extent.Text __complete -- @words 2>$null) {
        if ($line -match '^:\d+$' -or $line -eq '') { continue }
        $candidate, $about = $line -split "`t", 2
        if (-not $about) { $about = $candidate }
        [System.Management.Automation.CompletionResult]::new($candidate, $candidate, 'ParameterValue', $about)
    }
}
