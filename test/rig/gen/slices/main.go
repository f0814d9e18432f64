// Writes how the reference repacks Endpoints subsets and orders ports, for the tests of slices.
//
//	cd test/rig && go run ./gen/slices ../../src/controllers/_kit/slices/testdata
package main

import (
	"encoding/json"
	"fmt"
	"math/rand"
	"os"
	"path/filepath"
	"strings"

	v1 "k8s.io/api/core/v1"
	discovery "k8s.io/api/discovery/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/endpointslice/util"
	"k8s.io/kubernetes/pkg/api/v1/endpoints"
)

const (
	seed         = 20261201
	subsetCases  = 40
	portCases    = 40
	addressesMax = 4
	subsetsMax   = 4
)

type repack struct {
	Given  []v1.EndpointSubset `json:"given"`
	Wanted []v1.EndpointSubset `json:"wanted"`
}

type order struct {
	Given  []discovery.EndpointPort `json:"given"`
	Wanted []discovery.EndpointPort `json:"wanted"`
}

func pick(r *rand.Rand, texts ...string) string { return texts[r.Intn(len(texts))] }

// Ports are keys of a map there, with the pointer to the protocol: equal texts share one.
var pointers = map[string]*string{}

func maybe(r *rand.Rand, texts ...string) *string {
	if r.Intn(2) == 0 {
		return nil
	}
	text := pick(r, texts...)
	if pointers[text] == nil {
		pointers[text] = &text
	}
	return pointers[text]
}

func port(r *rand.Rand) v1.EndpointPort {
	return v1.EndpointPort{
		Name:        pick(r, "", "http", "https", "metrics"),
		Port:        int32([]int{80, 443, 8080, 9090}[r.Intn(4)]),
		Protocol:    v1.Protocol(pick(r, "TCP", "UDP")),
		AppProtocol: maybe(r, "http", "kubernetes.io/h2c"),
	}
}

func address(r *rand.Rand) v1.EndpointAddress {
	n := 1 + r.Intn(addressesMax)
	given := v1.EndpointAddress{IP: fmt.Sprintf("10.0.0.%d", n), NodeName: maybe(r, "node-1")}
	if r.Intn(4) == 0 {
		given.IP = fmt.Sprintf("fd00::%d", n)
	}
	if r.Intn(4) == 0 {
		given.Hostname = fmt.Sprintf("web-%d", n)
	}
	if r.Intn(3) > 0 {
		given.TargetRef = &v1.ObjectReference{
			Kind: "Pod", Namespace: "ns", Name: fmt.Sprintf("web-%d", n),
			UID: types.UID(fmt.Sprintf("uid-%d", r.Intn(3))),
		}
	}
	return given
}

func addresses(r *rand.Rand) []v1.EndpointAddress {
	var made []v1.EndpointAddress
	for n := r.Intn(addressesMax); n > 0; n-- {
		made = append(made, address(r))
	}
	return made
}

func subsets(r *rand.Rand) []v1.EndpointSubset {
	var made []v1.EndpointSubset
	for n := r.Intn(subsetsMax); n >= 0; n-- {
		subset := v1.EndpointSubset{Addresses: addresses(r), NotReadyAddresses: addresses(r)}
		for p := r.Intn(4); p > 0; p-- {
			subset.Ports = append(subset.Ports, port(r))
		}
		made = append(made, subset)
	}
	return made
}

func slicePorts(r *rand.Rand) []discovery.EndpointPort {
	var made []discovery.EndpointPort
	for n := r.Intn(6); n > 0; n-- {
		one := port(r)
		protocol, number := one.Protocol, one.Port
		made = append(made, discovery.EndpointPort{
			Name: maybe(r, "", "http", "https", "metrics"), Port: &number, Protocol: &protocol,
			AppProtocol: one.AppProtocol,
		})
		if r.Intn(8) == 0 {
			made[len(made)-1].Port = nil
		}
	}
	return made
}

// One case a line.
func write[T any](folder, name string, cases []T) {
	var lines []string
	for _, one := range cases {
		text, err := json.Marshal(one)
		if err != nil {
			panic(err)
		}
		lines = append(lines, string(text)+"\n")
	}
	text := strings.Join(lines, "")
	if err := os.WriteFile(filepath.Join(folder, name), []byte(text), 0o644); err != nil {
		panic(err)
	}
}

func main() {
	r := rand.New(rand.NewSource(seed))
	var repacked []repack
	for range subsetCases {
		given := subsets(r)
		repacked = append(repacked, repack{given, endpoints.RepackSubsets(given)})
	}
	var ordered []order
	for range portCases {
		given := slicePorts(r)
		wanted := append([]discovery.EndpointPort{}, given...)
		util.NewPortMapKey(wanted)
		ordered = append(ordered, order{given, wanted})
	}
	folder := os.Args[1]
	write(folder, "subsets-v1.36.3.jsonl", repacked)
	write(folder, "ports-v1.36.3.jsonl", ordered)
}
