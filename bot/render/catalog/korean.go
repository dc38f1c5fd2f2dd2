package catalog

import (
	"strings"
	"unicode"

	"github.com/switchback-ci/switchback/routing/lazyregexp"
)

// A Korean particle has two forms, and the last sound of the word before it decides between them.
// Texts write both, as is usual in print: {who}이(가), {id}(으)로. settle chooses once the word is
// known.

// final is how a word ends when it is read aloud.
type final int

const (
	unknown   final = iota // nothing that is read aloud
	vowel                  // 서버
	consonant              // 실행
	rieul                  // 파일: 로 follows it as it follows a vowel
)

// particles lists, for each pair as it is written, the form after a consonant and after a vowel.
var particles = []struct{ both, consonant, vowel string }{
	{"이(가)", "이", "가"}, {"을(를)", "을", "를"}, {"은(는)", "은", "는"}, {"과(와)", "과", "와"}, {"(으)로", "으로", "로"},
}

// settle takes a particle from the beginning of after and returns the form that follows word. Where
// nobody can know how word is read, both forms stay.
func settle(word, after string) (particle, rest string) {
	for _, p := range particles {
		rest, ok := strings.CutPrefix(after, p.both)
		if !ok {
			continue
		}
		switch f := sound(word); {
		case f == unknown:
			return p.both, rest
		case f == vowel, f == rieul && p.vowel == "로":
			return p.vowel, rest
		}
		return p.consonant, rest
	}
	return "", after
}

// attached is a particle in both forms behind a word.
var attached = lazyregexp.New(`(\S+?)(이\(가\)|을\(를\)|은\(는\)|과\(와\)|\(으\)로)`)

// Particles chooses the form of each particle of a Korean text that stands behind a word.
func Particles(text string) string {
	return attached.ReplaceAllStringFunc(text, func(found string) string {
		m := attached.FindStringSubmatch(found)
		particle, _ := settle(m[1], m[2])
		return m[1] + particle
	})
}

var (
	address  = lazyregexp.New(`\]\([^()\s]*\)$`)               // of a link, which shows its text
	lastWord = lazyregexp.New(`(?:[A-Za-z]+|[0-9]+|[\p{L}])$`) // camelCase and snake_case end in a word of their own
)

// sound says how the last letter or digit of a piece of Markdown is pronounced.
func sound(md string) final {
	md = address.ReplaceAllString(strings.TrimRight(md, " `*_~"), "")
	md = strings.TrimRightFunc(md, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
	w := lastWord.FindString(md)
	switch {
	case w == "":
		return unknown
	case w[0] >= '0' && w[0] <= '9':
		return digit(w[len(w)-1])
	case w[0] < 0x80:
		return latin(w)
	}
	r := []rune(w)[0]
	if r < '가' || r > '힣' {
		return unknown
	}
	switch (r - '가') % 28 {
	case 0:
		return vowel
	case 8:
		return rieul
	}
	return consonant
}

// digit is the sound of a number's last digit: 영 일 이 삼 사 오 육 칠 팔 구. A number that ends in 0
// ends in 십, 백, 천, 만 or 억, which are consonants as 영 is.
func digit(d byte) final {
	switch d {
	case '1', '7', '8':
		return rieul
	case '0', '3', '6':
		return consonant
	}
	return vowel
}

// syllable is an English ending that Korean closes with a consonant: one vowel before one stop, as
// in unit, map, web, block.
var syllable = lazyregexp.New(`(?:^|[^aeiou])[aeiou](?:pp|ck|[ptkcb])$|oo[kt]$|out$`)

// latin is the sound of an English word, or of the last letter of an abbreviation in capitals (CI,
// API, URL), by how such words are commonly transcribed.
func latin(w string) final {
	if len(w) == 1 || len(w) <= 4 && w == strings.ToUpper(w) {
		switch unicode.ToLower(rune(w[len(w)-1])) {
		case 'l', 'r':
			return rieul
		case 'm', 'n':
			return consonant
		}
		return vowel
	}
	w = strings.ToLower(w)
	switch {
	case strings.HasSuffix(w, "l"), strings.HasSuffix(w, "le"):
		return rieul
	case strings.HasSuffix(w, "m"), strings.HasSuffix(w, "n"), strings.HasSuffix(w, "ng"), strings.HasSuffix(w, "me"), strings.HasSuffix(w, "ne"):
		return consonant
	case syllable.MatchString(w):
		return consonant
	}
	return vowel
}
