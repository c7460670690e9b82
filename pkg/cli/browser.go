package cli

import (
	"fmt"
	"html"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
)

// openBrowser opens an address that has a secret. Other users of the machine see the arguments of programs, so the browser is given a file that only
// this user can read, and that leads to the address. done removes it.
func openBrowser(address string) (done func(), err error) {
	folder, err := os.MkdirTemp("", "fairway-console-")
	if err != nil {
		return func() {}, err
	}
	done = func() { _ = os.RemoveAll(folder) }
	file := filepath.Join(folder, "open.html")
	text := fmt.Sprintf("<!doctype html><meta charset=utf-8><meta http-equiv=refresh content=\"0; url=%s\"><title>Fairway</title>", html.EscapeString(address))
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		return done, err
	}
	command := exec.Command("xdg-open", file)
	switch runtime.GOOS {
	case "darwin":
		command = exec.Command("open", file)
	case "windows":
		command = exec.Command("rundll32", "url.dll,FileProtocolHandler", file)
	}
	if err := command.Start(); err != nil {
		return done, err
	}
	go func() { _ = command.Wait() }()
	return done, nil
}
