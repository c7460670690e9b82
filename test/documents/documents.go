// Package documents reads README.md and the pages of docs for tests: the blocks and the commands that they show.
//
// Input is the text of the pages; output are pieces of it with their places. The package does not judge them: its own tests run the commands of
// kubectl fairway, test/crd gives the YAML to an API server, and the laws of test/arch look up paths and links.
package documents

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// A Block is a fenced block of a page.
type Block struct {
	Page     string // such as docs/gangs.md
	Line     int    // of the fence
	Language string // yaml, sh, ...; "" if none is stated
	// Mark is the comment in the line before the block, which readers do not see: what the block is a part of, or from which file its answers are.
	Mark string
	Text string // without the indentation of the fence
}

// At is the place of a block, for messages.
func (b *Block) At() string { return fmt.Sprintf("%s:%d", b.Page, b.Line) }

// Blocks returns the fenced blocks of README.md and of the pages of docs, in order. Decisions (docs/adr) are of their time.
func Blocks(root string) ([]Block, error) {
	names, err := filepath.Glob(filepath.Join(root, "docs", "*.md"))
	if err != nil {
		return nil, err
	}
	var all []Block
	for _, name := range slices.Insert(names, 0, filepath.Join(root, "README.md")) {
		text, err := os.ReadFile(name)
		if err != nil {
			return nil, err
		}
		page, err := filepath.Rel(root, name)
		if err != nil {
			return nil, err
		}
		all = append(all, blocksOf(filepath.ToSlash(page), string(text))...)
	}
	return all, nil
}

var comment = regexp.MustCompile(`^<!-- (.*) -->$`)

func blocksOf(page, text string) (all []Block) {
	var open *Block
	indent, before := "", ""
	for i, line := range strings.Split(text, "\n") {
		trimmed := strings.TrimSpace(line)
		language, fence := strings.CutPrefix(trimmed, "```")
		switch {
		case !fence && open != nil:
			open.Text += strings.TrimPrefix(line, indent) + "\n"
		case fence && open != nil:
			all = append(all, *open)
			open = nil
		case fence:
			open = &Block{Page: page, Line: i + 1, Language: language}
			indent = line[:strings.Index(line, "`")]
			if mark := comment.FindStringSubmatch(before); mark != nil {
				open.Mark = mark[1]
			}
		}
		before = trimmed
	}
	return all
}

// A Command is a line that a page tells people to type.
type Command struct {
	Block
	Line   string // without the prompt; continued lines are joined
	Output string // what the page shows below it
}

// Commands returns the commands of a block: each line of a script, and the lines behind a prompt in any other block.
func (b *Block) Commands() (all []Command) {
	script := b.Language == "sh"
	for _, line := range strings.Split(strings.ReplaceAll(b.Text, "\\\n", " "), "\n") {
		typed, prompt := strings.CutPrefix(line, "$ ")
		switch {
		case prompt, script && strings.TrimSpace(line) != "":
			all = append(all, Command{Block: *b, Line: strings.TrimSpace(typed)})
		case !script && len(all) > 0:
			all[len(all)-1].Output += line + "\n"
		}
	}
	return all
}

// Words splits the first command of a line as a shell does, without what it writes to and without a comment.
func Words(line string) (words []string) {
	word, inside, quote := strings.Builder{}, false, rune(0)
	end := func() {
		if inside {
			words = append(words, word.String())
		}
		word.Reset()
		inside = false
	}
	for _, r := range line {
		switch {
		case quote != 0 && r == quote:
			quote = 0
		case quote != 0:
			word.WriteRune(r)
		case r == '\'' || r == '"':
			quote, inside = r, true
		case r == ' ':
			end()
		case strings.ContainsRune("|>;", r), r == '#' && !inside:
			end()
			return words
		default:
			word.WriteRune(r)
			inside = true
		}
	}
	end()
	return words
}
