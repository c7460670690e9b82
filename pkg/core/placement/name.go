package placement

import (
	"crypto/sha256"
	"encoding/base32"
	"strings"

	"github.com/fairway-scheduler/fairway/pkg/core/queue"
)

const (
	// maxLabel is the longest name that a level of a queue's path may have.
	maxLabel = 63
	// hashLength is how many characters of a hash a name gets: 40 bits, so that of a million names that are
	// alike two have the same with a probability of less than one half, and of a thousand practically never.
	hashLength = 8
)

// Label returns the name of a user or group as a level of a queue's path: lower case, "." as "-dot-", "@" as
// "-at-", all else that such a name may not have as "-". A person recognises the name, and mostly can tell what
// it was. If the result is too long, or other characters than
// printable ASCII were lost, a hash of the name is added.
//
// Different names may still have the same label, such as "a_b" and "a-b": see view.below.
func Label(name string) string {
	name = strings.TrimSpace(name)
	text, lossy := spell(name)
	if text == "" || lossy || len(text) > maxLabel {
		return withHash(text, name)
	}
	return text
}

// HashedLabel returns the label with a hash in any case.
func HashedLabel(name string) string {
	name = strings.TrimSpace(name)
	text, _ := spell(name)
	return withHash(text, name)
}

// spell replaces what a label may not have. It reports whether something was lost that nobody could guess.
func spell(name string) (text string, lossy bool) {
	lossy = strings.ContainsFunc(name, func(c rune) bool { return c < ' ' || c > '~' })
	var b strings.Builder
	for _, c := range strings.ToLower(name) {
		switch {
		case 'a' <= c && c <= 'z', '0' <= c && c <= '9':
			b.WriteRune(c)
		case c == '.':
			b.WriteString("-dot-")
		case c == '@':
			b.WriteString("-at-")
		default:
			b.WriteByte('-')
		}
	}
	return strings.Trim(b.String(), "-"), lossy
}

// withHash cuts the text so that a hash of the name fits behind it.
func withHash(text, name string) string {
	sum := sha256.Sum256([]byte(name))
	hash := strings.ToLower(base32.StdEncoding.EncodeToString(sum[:]))[:hashLength]
	text = strings.TrimRight(text[:min(len(text), maxLabel-1-hashLength)], "-")
	if text == "" {
		return hash
	}
	return text + "-" + hash
}

// below returns the queue of a user or group below a parent. If that queue was created for another name with the
// same label, the queue's name has a hash. A name whose queue has a hash keeps it for as long as the queue exists.
func (v view) below(parent queue.Path, name string) named {
	plain, hashed := parent+"."+queue.Path(Label(name)), parent+"."+queue.Path(HashedLabel(name))
	name = strings.TrimSpace(name)
	if q, ok := v.find(hashed); ok && q.Created && q.For == name {
		return named{hashed, name}
	}
	if q, ok := v.find(plain); ok && q.Created && q.For != "" && q.For != name {
		return named{hashed, name}
	}
	return named{plain, name}
}
