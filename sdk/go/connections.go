package postrider

import (
	"context"
	"net"
	"net/http"
	"net/url"
	"sync"
	"time"
)

const (
	// idleConnectionTimeout is shorter than the 75 seconds after which the daemon closes a connection.
	idleConnectionTimeout = 60 * time.Second
	// maxConnections is the maximum number of connections of a client. Further calls wait for one.
	maxConnections = 100
	connectTimeout = 10 * time.Second
)

// pool keeps the connections of a client, and knows all that are open, so that none is left after close.
type pool struct {
	transport *http.Transport
	mutex     sync.Mutex
	open      map[*pooledConn]struct{}
	isClosed  bool
}

type pooledConn struct {
	net.Conn
	pool *pool
}

func newPool() *pool {
	p := &pool{open: map[*pooledConn]struct{}{}}
	dialer := &net.Dialer{Timeout: connectTimeout, KeepAlive: 30 * time.Second}
	p.transport = &http.Transport{
		Proxy: proxyFor,
		// The context of a request does not end a dial, because another request that waits may use the connection. One that is given up when the
		// server has it already would be more than the maximum.
		DialContext: func(_ context.Context, network, address string) (net.Conn, error) {
			conn, err := dialer.Dial(network, address)
			if err != nil {
				return nil, err
			}
			return p.add(conn)
		},
		TLSHandshakeTimeout: connectTimeout,
		DisableCompression:  true,
		MaxIdleConns:        maxConnections,
		MaxIdleConnsPerHost: maxConnections,
		MaxConnsPerHost:     maxConnections,
		IdleConnTimeout:     idleConnectionTimeout,
	}
	return p
}

// proxyFor is the proxy of the environment, and none for this machine: a live key may go there in the clear, and so must not go through another one.
// net/http knows localhost, but not the names below it.
func proxyFor(request *http.Request) (*url.URL, error) {
	if isLoopback(request.URL.Hostname()) {
		return nil, nil
	}
	return http.ProxyFromEnvironment(request)
}

func (p *pool) add(conn net.Conn) (net.Conn, error) {
	pooled := &pooledConn{Conn: conn, pool: p}
	p.mutex.Lock()
	defer p.mutex.Unlock()
	if p.isClosed {
		conn.Close()
		return nil, net.ErrClosed
	}
	p.open[pooled] = struct{}{}
	return pooled, nil
}

func (c *pooledConn) Close() error {
	c.pool.mutex.Lock()
	delete(c.pool.open, c)
	c.pool.mutex.Unlock()
	return c.Conn.Close()
}

func (p *pool) close() {
	p.mutex.Lock()
	p.isClosed = true
	open := make([]*pooledConn, 0, len(p.open))
	for conn := range p.open {
		open = append(open, conn)
	}
	p.mutex.Unlock()
	for _, conn := range open {
		conn.Close()
	}
	p.transport.CloseIdleConnections()
}
