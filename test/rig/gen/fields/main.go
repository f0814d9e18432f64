// Writes which fields the types of upstream have that templates are made of: for each type its
// fields, with the type of what is below where that is looked into as well.
//
//	cd test/rig && go run ./gen/fields ../../src/api
package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"sort"
	"strings"

	batch "k8s.io/api/batch/v1"
	core "k8s.io/api/core/v1"
)

const version = "v1.36.3"

var unmarshaler = reflect.TypeFor[json.Unmarshaler]()

// The struct below pointers and lists; nil for what is read as a whole (texts, maps, quantities).
func structOf(of reflect.Type) reflect.Type {
	for of.Kind() == reflect.Pointer || of.Kind() == reflect.Slice {
		of = of.Elem()
	}
	if of.Kind() == reflect.Map && structOf(of.Elem()) != nil {
		panic(fmt.Sprintf("%s holds objects by free keys", of))
	}
	if of.Kind() != reflect.Struct || reflect.PointerTo(of).Implements(unmarshaler) {
		return nil
	}
	return of
}

func fieldsOf(of reflect.Type, found map[string][]string) []string {
	fields := []string{}
	for at := range of.NumField() {
		field := of.Field(at)
		name, options, _ := strings.Cut(field.Tag.Get("json"), ",")
		below := structOf(field.Type)
		switch {
		case name == "-":
		case strings.Contains(options, "inline") || name == "" && field.Anonymous:
			fields = append(fields, fieldsOf(below, found)...)
		case name == "":
			panic(fmt.Sprintf("%s.%s has no name", of, field.Name))
		case below == nil:
			fields = append(fields, name)
		default:
			fields = append(fields, name+":"+below.Name())
			collect(below, found)
		}
	}
	return fields
}

func collect(of reflect.Type, found map[string][]string) {
	if _, known := found[of.Name()]; known {
		return
	}
	found[of.Name()] = nil
	fields := fieldsOf(of, found)
	sort.Strings(fields)
	found[of.Name()] = fields
}

func main() {
	found := map[string][]string{}
	collect(reflect.TypeFor[core.PodTemplateSpec](), found)
	collect(reflect.TypeFor[core.PersistentVolumeClaim](), found)
	collect(reflect.TypeFor[batch.JobTemplateSpec](), found)
	lines := map[string]string{}
	for name, fields := range found {
		lines[name] = strings.Join(fields, " ")
	}
	var text bytes.Buffer
	encoder := json.NewEncoder(&text)
	encoder.SetIndent("", "  ")
	if err := encoder.Encode(lines); err != nil {
		panic(err)
	}
	path := filepath.Join(os.Args[1], "template-fields-"+version+".json")
	if err := os.WriteFile(path, text.Bytes(), 0o644); err != nil {
		panic(err)
	}
}
