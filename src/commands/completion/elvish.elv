# Completion of kubectl-crdx in elvish: eval (kubectl-crdx completion elvish | slurp)

use str

set edit:completion:arg-completer[kubectl-crdx] = {|@words|
    var lines = [(try { e:kubectl-crdx __complete -- (all $words[1..]) 2>/dev/null } catch e { })]
    var candidates = [(each {|line| if (not (str:has-prefix $line :)) { put $line } } $lines)]
    if (> (count $candidates) 0) {
        each {|line|
            var parts = [(str:split "\t" $line)]
            if (> (count $parts) 1) {
                edit:complex-candidate $parts[0] &display=$parts[0]' ('$parts[1]')'
            } else {
                put $line
            }
        } $candidates
    } elif (has-value [:0 :16] $lines[-1]) {
        edit:complete-filename $words[-1]
    }
}
