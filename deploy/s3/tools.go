//go:build tools

// Package tools keeps the server in go.mod when `go mod tidy` runs; it is never compiled.
package tools

import _ "github.com/versity/versitygw/cmd/versitygw"
