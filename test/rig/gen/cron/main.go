// Writes what the reference's cron library and Go's time zones answer, for the tests of src/api.
//
//	cd test/rig && go run ./gen/cron ../../src/api/testdata
package main

import (
	"archive/zip"
	"encoding/json"
	"fmt"
	"math/rand"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"sort"
	"strings"
	"time"

	"github.com/robfig/cron/v3"
	"k8s.io/kubernetes/pkg/util/parsers"
)

const (
	seed       = 20261130
	local      = "America/Havana"
	nextTimes  = 4
	perZone    = 45
	malformed  = 600
	randomOnes = 1000
)

var from = time.Date(2015, 1, 1, 0, 0, 0, 0, time.UTC)
var until = time.Date(2036, 1, 1, 0, 0, 0, 0, time.UTC)

// Zones with something special about their clocks.
var special = []string{
	"Africa/Cairo", "Africa/Casablanca", "Africa/Johannesburg", "America/Asuncion", "America/Havana",
	"America/New_York", "America/Nuuk", "America/Santiago", "America/Sao_Paulo", "America/St_Johns",
	"Antarctica/Troll", "Asia/Amman", "Asia/Beirut", "Asia/Gaza", "Asia/Kathmandu", "Asia/Kolkata",
	"Asia/Pyongyang", "Asia/Tehran", "Asia/Tokyo", "Atlantic/Azores", "Australia/Lord_Howe",
	"Europe/Berlin", "Europe/Dublin", "Europe/Istanbul", "Europe/London", "Europe/Moscow",
	"Pacific/Apia", "Pacific/Chatham", "Pacific/Norfolk", "UTC",
}

func pick(r *rand.Rand, texts ...string) string { return texts[r.Intn(len(texts))] }

func number(r *rand.Rand, low, high int) string { return fmt.Sprint(low + r.Intn(high-low+1)) }

func term(r *rand.Rand, low, high int, names []string) string {
	value := func() string {
		if names != nil && r.Intn(4) == 0 {
			return names[r.Intn(len(names))]
		}
		return number(r, low, high)
	}
	switch r.Intn(8) {
	case 0:
		return pick(r, "*", "?")
	case 1:
		return pick(r, "*", "?") + "/" + number(r, 1, high)
	case 2:
		return value() + "/" + number(r, 1, high)
	case 3:
		a, b := low+r.Intn(high-low+1), low+r.Intn(high-low+1)
		if a > b {
			a, b = b, a
		}
		return fmt.Sprintf("%d-%d", a, b)
	case 4:
		a := low + r.Intn(high-low+1)
		return fmt.Sprintf("%d-%d/%s", a, a+r.Intn(high-a+1), number(r, 1, high))
	default:
		return value()
	}
}

func field(r *rand.Rand, low, high int, names []string) string {
	if r.Intn(3) == 0 {
		return "*"
	}
	terms := []string{term(r, low, high, names)}
	for r.Intn(4) == 0 {
		terms = append(terms, term(r, low, high, names))
	}
	return strings.Join(terms, ",")
}

var months = []string{"jan", "FEB", "Mar", "apr", "may", "jun", "jul", "aug", "sep", "OCT", "nov", "dec"}
var days = []string{"sun", "MON", "Tue", "wed", "thu", "fri", "SAT"}

func expression(r *rand.Rand) string {
	switch r.Intn(12) {
	case 0:
		return pick(r, "@yearly", "@annually", "@monthly", "@weekly", "@daily", "@midnight", "@hourly")
	case 1:
		return "@every " + pick(r, "1h", "90m", "1.5h", "36h15m", "20s", "100ms", "61s500ms", "720h")
	}
	return strings.Join([]string{
		field(r, 0, 59, nil), field(r, 0, 23, nil), field(r, 1, 31, nil),
		field(r, 1, 12, months), field(r, 0, 6, days),
	}, pick(r, " ", " ", "  ", "\t"))
}

// A good expression with something broken, or nothing that resembles one.
func broken(r *rand.Rand) string {
	text := []rune(expression(r))
	for n := 1 + r.Intn(3); n > 0; n-- {
		at := r.Intn(len(text))
		extra := []rune(pick(r, "-", "/", ",", "*", "?", " ", "x", "99", "-5", "+3", "0", "\u00a0", "\"", "ß",
			"99999999999999999999", "@", "7", "60", "24", "32", "13", ".", "h", "/0", "--", "//"))
		switch r.Intn(3) {
		case 0:
			text = append(text[:at:at], append(extra, text[at:]...)...)
		case 1:
			text = append(text[:at:at], text[min(at+1, len(text)):]...)
		default:
			text = append(text[:at:at], append(extra, text[min(at+1, len(text)):]...)...)
		}
		if len(text) == 0 {
			break
		}
	}
	return string(text)
}

var byHand = []string{
	"", " ", "TZ=", "TZ=0", "CRON_TZ=UTC", "TZ=Europe/Berlin 0 0 * * *", "CRON_TZ=Asia/Tokyo @daily",
	"TZ=Local 0 4 * * *", "TZ= 0 4 * * *", "TZ=europe/berlin 0 0 * * *", "TZ=+01:00 0 0 * * *",
	"TZ=Nowhere/Land 0 0 * * *", "TZ=../etc/passwd 0 0 * * *", "TZ=/etc/localtime 0 0 * * *",
	"TZ=\\x 0 0 * * *", "TZ=UTC", "TZ=UTC ", "TZ=UTC  @every 5m ", "TZ=UTC\t0 0 * * *", "tz=UTC 0 0 * * *",
	"TZ=EST5 0 0 * * *", "TZ=EST5EDT 0 2 * * *", "TZ=AST 0 0 * * *", "TZ=Factory 0 0 * * *",
	"59 23 31 2 *", "0 0 30 2 *", "0 0 29 2 *", "0 0 31 4,6,9,11 *", ", * * * *", "0 , * * *", "0 0 , * *",
	"0 0 , * 1", "0 0 * , *", "0 0 * * ,", "0 0 , * ,", "*-5 * * * *", "*-5/2 * * * *", "*-x * * * *",
	"1-2-3 * * * *", "x-2-3 * * * *", "*-1-2 * * * *", "1/2/3 * * * *", "5/ * * * *", "/5 * * * *",
	"-5 * * * *", "5- * * * *", "*/0 * * * *", "*/-5 * * * *", "*/1 * * * *", "*/2 0 */1 * 1", "*/2 0 */2 * 1",
	"0 0 1 * */2", "0 0 1 * 1", "0 0 13 * FRI", "0 0 * * 7", "0 0 0 * *", "0 0 1 0 *", "60 * * * *",
	"+5 * * * *", "05 * * * *", "0x5 * * * *", "1_0 * * * *", "* * * * * *", "* * * *", "@reboot", "@every",
	"@every ", "@every x", "@every 5", "@every 5 m", "@every -5m", "@every 0", "@every 1h30", "@every 1.5.5h",
	"@every 9223372036854775808ns", "@every 1d", "@every .s", "@every 1\u00b5s", "@Daily", "@daily ", " @daily",
	"  5   4 * * *  ", "5\v4\f*\r*\n*", "5\u00854\u2003*\u3000*\u2028*", "5\ufeff4 * * *",
	"0 0 L * *", "0 0 ? * MON#1", "0 0 1W * *", "0 0 1 jan-mar *", "0 0 1 january *", "0 0 * * mon-fri",
	"0 0 * * fri-mon", "0 0 * * sun-sat/2", "9223372036854775807 * * * *", "9223372036854775808 * * * *",
	"0/9223372036854775807 * * * *", "\"0\" * * * *", "\u221e * * * *",
}

type list []any

func answers(text string, at time.Time) list {
	schedule, err := parsers.ParseCronScheduleWithPanicRecovery(text)
	if err != nil {
		return list{text, err.Error()}
	}
	return list{text, at.Unix(), sequence(schedule, at)}
}

// Distances in seconds between one time and the next; nil where there is none.
func sequence(schedule cron.Schedule, at time.Time) list {
	var distances list
	for range nextTimes {
		next := schedule.Next(at)
		if next.IsZero() {
			return append(distances, nil)
		}
		distances = append(distances, next.Unix()-at.Unix())
		at = next
	}
	return distances
}

func instant(r *rand.Rand) time.Time {
	return from.Add(time.Duration(r.Int63n(int64(until.Sub(from))))).In(time.Local)
}

type change struct {
	at     int64
	offset int
}

// When the clocks of a zone change, and to what. (time.ZoneBounds doesn't get past some year ends.)
func changes(zone *time.Location) []change {
	offset := func(at int64) int {
		_, seconds := time.Unix(at, 0).In(zone).Zone()
		return seconds
	}
	var found []change
	const step = 3600
	for at := from.Unix(); at < until.Unix(); at += step {
		before, after := offset(at), offset(at+step)
		if before == after {
			continue
		}
		within := sort.Search(step, func(second int) bool { return offset(at+int64(second)) == after })
		found = append(found, change{at + int64(within), after})
	}
	return found
}

// Instants shortly before the clocks change, and any.
func instants(r *rand.Rand, zone *time.Location, count int) []time.Time {
	changes := changes(zone)
	var chosen []time.Time
	for range count {
		if len(changes) == 0 || r.Intn(4) == 0 {
			chosen = append(chosen, instant(r))
			continue
		}
		seconds := 2*3600 - r.Int63n(30*3600)
		chosen = append(chosen, time.Unix(changes[r.Intn(len(changes))].at+seconds, 0))
	}
	return chosen
}

func cases() []list {
	r := rand.New(rand.NewSource(seed))
	var all []list
	for _, text := range byHand {
		all = append(all, answers(text, instant(r)))
	}
	for range malformed {
		all = append(all, answers(broken(r), instant(r)))
	}
	for range randomOnes {
		all = append(all, answers(expression(r), instant(r)))
	}
	for _, name := range special {
		zone, err := time.LoadLocation(name)
		if err != nil {
			panic(err)
		}
		for _, at := range instants(r, zone, perZone) {
			text := expression(r)
			if r.Intn(2) == 0 {
				text = fmt.Sprintf("%s %s * * *", pick(r, "*/15", "0", "30", "*"), pick(r, "0", "1", "2", "3", "0-4", "*"))
			}
			all = append(all, answers("TZ="+name+" "+text, at))
		}
	}
	return all
}

// For each zone its offset at the start, and [when, offset] of each change; zones that are alike share one.
func zones() []list {
	alike := map[string][]string{}
	for _, name := range zoneNames() {
		zone, err := time.LoadLocation(name)
		if err != nil {
			panic(err)
		}
		_, offset := from.In(zone).Zone()
		row := list{offset}
		for _, change := range changes(zone) {
			row = append(row, list{change.at, change.offset})
		}
		text, _ := json.Marshal(row)
		alike[string(text)] = append(alike[string(text)], name)
	}
	var all []list
	for changes, names := range alike {
		all = append(all, list{strings.Join(names, " "), json.RawMessage(changes)})
	}
	sort.Slice(all, func(i, j int) bool { return all[i][0].(string) < all[j][0].(string) })
	return all
}

// Go's own copy of the tz database, so that the machine's doesn't matter.
func database() string { return filepath.Join(runtime.GOROOT(), "lib", "time", "zoneinfo.zip") }

func zoneNames() []string {
	archive, err := zip.OpenReader(database())
	if err != nil {
		panic(err)
	}
	defer archive.Close()
	var names []string
	for _, file := range archive.File {
		if !strings.HasSuffix(file.Name, "/") {
			names = append(names, file.Name)
		}
	}
	sort.Strings(names)
	return names
}

func version(module string) string {
	info, _ := debug.ReadBuildInfo()
	for _, dependency := range info.Deps {
		if dependency.Path == module {
			return dependency.Version
		}
	}
	return "?"
}

// One JSON value a line: what it came from, then the rows.
func write(path string, head map[string]string, rows []list) {
	lines := make([]string, len(rows))
	for i, row := range rows {
		var text strings.Builder
		encoder := json.NewEncoder(&text)
		encoder.SetEscapeHTML(false)
		if err := encoder.Encode(row); err != nil {
			panic(err)
		}
		lines[i] = strings.TrimSpace(text.String())
	}
	first, _ := json.Marshal(head)
	body := fmt.Sprintf("%s\n%s\n", first, strings.Join(lines, "\n"))
	if err := os.WriteFile(path, []byte(body), 0o644); err != nil {
		panic(err)
	}
}

func main() {
	os.Setenv("ZONEINFO", database())
	zone, err := time.LoadLocation(local)
	if err != nil {
		panic(err)
	}
	time.Local = zone
	head := map[string]string{
		"cron": version("github.com/robfig/cron/v3"), "kubernetes": version("k8s.io/kubernetes"),
		"go": runtime.Version(), "local": local, "generator": "test/rig/gen/cron",
	}
	folder := os.Args[1]
	write(filepath.Join(folder, "cron-"+head["cron"]+".txt"), head, cases())
	write(filepath.Join(folder, "zones-"+head["go"]+".txt"), head, zones())
}
