module example.com/kites

go 1.24
