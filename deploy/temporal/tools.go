//go:build tools

// Package tools keeps the Temporal CLI in go.mod when `go mod tidy` runs; it is never compiled.
package tools

import _ "github.com/temporalio/cli/cmd/temporal"
