// Goroutines, and channels to wait for them.
package main

import (
	"fmt"
	"os"
	"strconv"
	"sync/atomic"
	"syscall"
	"time"
)

var ran int64
var allRan, back = make(chan bool, 1), make(chan bool, 1)

func expect(right bool) {
	if !right {
		panic("the work was not done")
	}
}

func job(last int) {
	if atomic.AddInt64(&ran, 1) == int64(last) {
		allRan <- true
	}
}

func spawn(n int) {
	for i := 0; i < n; i++ {
		go job(n)
	}
}

func inside(n int) { go spawn(n) }

func roundTrips(n int) {
	for i := 0; i < n; i++ {
		go func() {
			job(n)
			back <- true
		}()
		<-back
	}
}

func processor() int64 {
	var used syscall.Rusage
	expect(syscall.Getrusage(syscall.RUSAGE_SELF, &used) == nil)
	return used.Utime.Nano() + used.Stime.Nano()
}

func main() {
	pass := map[string]func(int){"round-trip": roundTrips, "batch": spawn, "inside": inside}[os.Args[1]]
	n, err := strconv.Atoi(os.Args[2])
	seconds, wrong := strconv.ParseFloat(os.Getenv("BENCH_SECONDS"), 64)
	expect(pass != nil && err == nil && wrong == nil)
	begin, used, items := time.Now(), processor(), 0
	for time.Since(begin).Seconds() < seconds {
		pass(n)
		<-allRan
		expect(atomic.SwapInt64(&ran, 0) == int64(n))
		items += n
	}
	fmt.Printf("{\"ns_per_item\":%g,\"processor_ns_per_item\":%g}\n",
		float64(time.Since(begin).Nanoseconds())/float64(items), float64(processor()-used)/float64(items))
}
