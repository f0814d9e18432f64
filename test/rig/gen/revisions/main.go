// Writes what upstream makes of pod templates as revisions: data, hashes, templates put back, and
// which stored data counts as the same. The templates, with or without data, are in given.jsonl.
//
//	cd test/rig && go run ./gen/revisions ../../src/controllers/_kit/revisions/testdata
package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	_ "unsafe" // for the functions that upstream keeps to itself

	apps "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/kubernetes/pkg/api/legacyscheme"
	_ "k8s.io/kubernetes/pkg/apis/apps/install"
	_ "k8s.io/kubernetes/pkg/apis/core/install"
	_ "k8s.io/kubernetes/pkg/controller/daemon"
	"k8s.io/kubernetes/pkg/controller/history"
	"k8s.io/kubernetes/pkg/controller/statefulset"
	"k8s.io/utils/lru"
)

//go:linkname setData k8s.io/kubernetes/pkg/controller/statefulset.getPatch
func setData(set *apps.StatefulSet) ([]byte, error)

//go:linkname newRevision k8s.io/kubernetes/pkg/controller/statefulset.newRevision
func newRevision(set *apps.StatefulSet, number int64, collisions *int32) (*apps.ControllerRevision, error)

//go:linkname isSame k8s.io/kubernetes/pkg/controller/statefulset.setMatchesLatestExistingRevision
func isSame(set *apps.StatefulSet, proposed, latest *apps.ControllerRevision, memory *lru.Cache) bool

//go:linkname daemonData k8s.io/kubernetes/pkg/controller/daemon.getPatch
func daemonData(set *apps.DaemonSet) ([]byte, error)

// One template, as it is written by a user.
type template struct {
	Name     string          `json:"name"`
	Template json.RawMessage `json:"template"`
}

// The template with defaults, and what upstream makes of it.
type revision struct {
	template
	SetData    string            `json:"setData"`
	DaemonData string            `json:"daemonData"`
	SetHashes  map[string]string `json:"setHashes"`
	// What the revision puts back, or why it can't.
	Applied    json.RawMessage `json:"applied"`
	ApplyError string          `json:"applyError"`
}

// Whether stored data counts as the template's.
type pair struct {
	template
	Data  json.RawMessage `json:"data"`
	Equal bool            `json:"equal"`
}

func must[T any](value T, err error) T {
	if err != nil {
		panic(err)
	}
	return value
}

const head = `"apiVersion":"apps/v1","metadata":{"name":"web","namespace":"default","uid":"u"}`

func parse(kind, template string, into any) {
	body := fmt.Sprintf(`{%s,"kind":%q,"spec":{"selector":{"matchLabels":{"app":"web"}},"template":%s}}`, head, kind, template)
	if err := json.Unmarshal([]byte(body), into); err != nil {
		panic(err)
	}
}

func setOf(template json.RawMessage) *apps.StatefulSet {
	set := &apps.StatefulSet{}
	parse("StatefulSet", string(template), set)
	legacyscheme.Scheme.Default(set)
	return set
}

func daemonSetOf(template json.RawMessage) *apps.DaemonSet {
	set := &apps.DaemonSet{}
	parse("DaemonSet", string(template), set)
	legacyscheme.Scheme.Default(set)
	return set
}

func revisionOf(given template) revision {
	set := setOf(given.Template)
	data := must(setData(set))
	stored := &apps.ControllerRevision{Data: runtime.RawExtension{Raw: data}}
	hashes := map[string]string{"none": history.HashControllerRevision(stored, nil)}
	for _, count := range []int32{0, 1, 17} {
		hashes[fmt.Sprint(count)] = history.HashControllerRevision(stored, &count)
	}
	made := revision{
		template:   template{given.Name, must(json.Marshal(set.Spec.Template))},
		SetData:    string(data),
		DaemonData: string(must(daemonData(daemonSetOf(given.Template)))),
		SetHashes:  hashes,
	}
	applied, err := statefulset.ApplyRevision(set, stored)
	if err != nil {
		made.ApplyError = err.Error()
		return made
	}
	made.Applied = must(json.Marshal(applied.Spec.Template))
	return made
}

func pairOf(given pair) pair {
	set := setOf(given.Template)
	latest := &apps.ControllerRevision{
		ObjectMeta: metav1.ObjectMeta{ResourceVersion: "1"},
		Data:       runtime.RawExtension{Raw: given.Data},
		Revision:   1,
	}
	given.Template = must(json.Marshal(set.Spec.Template))
	given.Equal = isSame(set, must(newRevision(set, 2, new(int32))), latest, lru.New(1))
	return given
}

func writeLines[T any](path string, values []T) {
	file := must(os.Create(path))
	lines := json.NewEncoder(file)
	lines.SetEscapeHTML(false)
	for _, value := range values {
		if err := lines.Encode(value); err != nil {
			panic(err)
		}
	}
	if err := file.Close(); err != nil {
		panic(err)
	}
}

func main() {
	folder := os.Args[1]
	file := must(os.Open(filepath.Join(folder, "given.jsonl")))
	revisions := []revision{}
	pairs := []pair{}
	for lines := json.NewDecoder(file); lines.More(); {
		var given pair
		if err := lines.Decode(&given); err != nil {
			panic(err)
		}
		if given.Data == nil {
			revisions = append(revisions, revisionOf(given.template))
		} else {
			pairs = append(pairs, pairOf(given))
		}
	}
	writeLines(filepath.Join(folder, "revisions-v1.36.3.jsonl"), revisions)
	writeLines(filepath.Join(folder, "pairs-v1.36.3.jsonl"), pairs)
}
