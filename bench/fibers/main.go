// Goroutines and channels.
package main

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"sync"
	"time"
)

// Whether the pass has printed its line itself.
var held bool

func expect(right bool) {
	if !right {
		panic("the work was not done")
	}
}

func spawn(n int) {
	ended := make(chan int, n)
	for i := 0; i < n; i++ {
		go func() { ended <- 1 }()
	}
	for i := 0; i < n; i++ {
		<-ended
	}
}

// Each goroutine waits for a channel of its own; `there` runs when all have come to their waits.
func waits(n int, there func()) {
	gates, ended := make([]chan int, n), make(chan int, n)
	var absent sync.WaitGroup
	absent.Add(n)
	for i := range gates {
		gate := make(chan int)
		gates[i] = gate
		go func() {
			absent.Done()
			ended <- <-gate
		}()
	}
	absent.Wait()
	there()
	for i := range gates {
		gates[i] <- 1
	}
	for range gates {
		expect(<-ended == 1)
	}
}

func await(n int) { waits(n, func() {}) }

// A number of the line of /proc/self/status that begins with this.
func status(key string) float64 {
	text, _ := os.ReadFile("/proc/self/status")
	for _, line := range strings.Split(string(text), "\n") {
		if strings.HasPrefix(line, key) {
			number, err := strconv.ParseFloat(strings.Fields(line)[1], 64)
			expect(err == nil)
			return number
		}
	}
	panic(key)
}

func hold(n int) {
	before := status("VmRSS:")
	waits(n, func() {
		fmt.Printf("{\"ns_per_item\":%g,\"threads\":%g}\n",
			(status("VmRSS:")-before)*1024/float64(n), status("Threads:"))
		held = true
	})
}

func handOver(n int) {
	there, back := make(chan int), make(chan int)
	go func() {
		for i := range there {
			back <- i + 1
		}
	}()
	for i := 0; i < n/2; i++ {
		there <- i
		expect(<-back == i+1)
	}
	close(there)
}

func main() {
	all := map[string]func(int){
		"spawn": spawn, "await": await, "hand-over": handOver, "hold": hold}
	pass := all[os.Args[1]]
	n, err := strconv.Atoi(os.Args[2])
	seconds, wrong := strconv.ParseFloat(os.Getenv("BENCH_SECONDS"), 64)
	expect(pass != nil && err == nil && wrong == nil)
	pass(n)
	begin, passes := time.Now(), 0
	for !held && time.Since(begin).Seconds() < seconds {
		pass(n)
		passes++
	}
	if !held {
		fmt.Printf("{\"ns_per_item\":%g}\n", float64(time.Since(begin).Nanoseconds())/float64(passes*n))
	}
}
