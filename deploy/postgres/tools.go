//go:build tools

// Package tools keeps the server in go.mod when `go mod tidy` runs; it is never compiled.
package tools

import (
	_ "go.temporal.io/server/cmd/server"
	_ "go.temporal.io/server/cmd/tools/sql"
)
