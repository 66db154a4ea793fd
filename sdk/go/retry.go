package postrider

import (
	"context"
	"crypto/rand"
	"encoding/binary"
	"errors"
	"net"
	"net/http"
	"strconv"
	"strings"
	"time"
)

const (
	firstPause    = 500 * time.Millisecond
	maxRetryAfter = 30 * time.Second
	// maxSeconds keeps a Retry-After without sense from overflowing a duration.
	maxSeconds = 10 * 365 * 24 * 3600
)

// isUnsent is true when a failed try surely sent nothing. The transport of a caller may not tell when it has a connection, so its error has to say that
// there was none.
func (c *Client) isUnsent(try *attempt, failure *Error) bool {
	if c.pool != nil {
		return !try.connected.Load()
	}
	var problem *net.OpError
	return errors.As(failure.Cause, &problem) && problem.Op == "dial"
}

// mayRepeat is true when an operation may be tried again after this failure.
func mayRepeat(rule repeatRule, failure *Error, isUnsent bool) bool {
	isLost := failure.Type == ErrorConnection || failure.Type == ErrorTimeout
	switch {
	case isLost:
		return isUnsent || rule != repeatUnsent
	case failure.Status == http.StatusTooManyRequests:
		return failure.Type == "rate_limited"
	case failure.Status == http.StatusServiceUnavailable && failure.Type == "unavailable":
		return true
	case rule == repeatUnsent:
		return false
	case failure.Status == http.StatusConflict:
		return failure.Type == "idempotency_in_progress"
	default:
		return failure.Status == http.StatusRequestTimeout || failure.Status >= 500
	}
}

// pauseBefore returns the pause before repeat number n, which begins at 1. Retry-After takes its place when it is longer.
func pauseBefore(n int, failure *Error) time.Duration {
	pause := firstPause << min(n-1, 10)
	pause = pause/2 + time.Duration(randomFraction()*float64(pause/2))
	if failure.RetryAfter > pause {
		return failure.RetryAfter
	}
	return pause
}

// randomFraction does not use math/rand, which Go 1.19 begins with the same seed in every process.
func randomFraction() float64 {
	var random [8]byte
	rand.Read(random[:])
	return float64(binary.BigEndian.Uint64(random[:])>>11) / (1 << 53)
}

// retryAfter reads Retry-After in seconds or as a date, which is compared with the clock of the server where it is known.
func retryAfter(header http.Header, now time.Time) time.Duration {
	text := strings.TrimSpace(header.Get("Retry-After"))
	if text == "" {
		return 0
	}
	if seconds, err := strconv.ParseFloat(text, 64); err == nil {
		if !(seconds > 0) {
			return 0
		}
		if seconds > maxSeconds {
			seconds = maxSeconds
		}
		return time.Duration(seconds * float64(time.Second))
	}
	date, err := http.ParseTime(text)
	if err != nil {
		return 0
	}
	if server, err := http.ParseTime(header.Get("Date")); err == nil {
		now = server
	}
	if wait := date.Sub(now); wait > 0 {
		return wait
	}
	return 0
}

// sleep waits, and returns false when the context ended or the client was closed before.
func sleep(ctx context.Context, closed <-chan struct{}, pause time.Duration) bool {
	timer := time.NewTimer(pause)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	case <-closed:
		return false
	}
}

func min(a, b int) int {
	if a < b {
		return a
	}
	return b
}
