package postrider

import (
	"context"
	"encoding/json"
	"errors"
)

// Page is one page of a list, with the newest item first.
type Page[T any] struct {
	Answer
	Data    []T
	HasMore bool
	// NextCursor is the StartingAfter of the next page. It is empty on the last one.
	NextCursor string
}

// UnmarshalJSON keeps the bytes of each item, so that its unknown fields are reachable too.
func (p *Page[T]) UnmarshalJSON(text []byte) error {
	var page struct {
		Data       []json.RawMessage
		HasMore    bool
		NextCursor *string
	}
	if err := json.Unmarshal(text, &page); err != nil {
		return err
	}
	if page.Data == nil {
		return errors.New("the page has no list")
	}
	p.Data, p.HasMore = make([]T, len(page.Data)), page.HasMore
	if page.NextCursor != nil {
		p.NextCursor = *page.NextCursor
	}
	for i, raw := range page.Data {
		if err := decodeAnswer(raw, &p.Data[i], answerMeta{}); err != nil {
			return err
		}
	}
	return nil
}

// Pager reads a list item by item, and fetches a page when it is needed. Nothing is sent before the first Next or Page. It belongs to one goroutine.
//
//	topics := client.Topics.List(ctx, nil)
//	for topics.Next() {
//		fmt.Println(topics.Item().Name)
//	}
//	if err := topics.Err(); err != nil { … }
type Pager[T any] struct {
	ctx     context.Context
	client  *Client
	request *request
	options []CallOption
	query   string
	page    *Page[T]
	next    int
	err     error
}

func list[T any](ctx context.Context, client *Client, request *request, options []CallOption) *Pager[T] {
	return &Pager[T]{ctx: ctx, client: client, request: request, options: options}
}

// Page returns the page that the pager is at, and fetches the first one when there is none yet.
func (p *Pager[T]) Page() (*Page[T], error) {
	if p.page == nil && p.err == nil {
		p.fetch(p.request.query)
	}
	return p.page, p.err
}

// Next moves to the next item. It returns false at the end of the list and after an error.
func (p *Pager[T]) Next() bool {
	if page, err := p.Page(); page == nil || err != nil {
		return false
	}
	for p.next >= len(p.page.Data) {
		query, hasMore := p.following()
		if !hasMore || query == p.query {
			return false
		}
		if p.fetch(query); p.err != nil {
			return false
		}
	}
	p.next++
	return true
}

// Item returns the item that Next has moved to.
func (p *Pager[T]) Item() *T { return &p.page.Data[p.next-1] }

// Err returns the error that ended the list, or nil.
func (p *Pager[T]) Err() error { return p.err }

func (p *Pager[T]) fetch(query string) {
	request := *p.request
	request.query = query
	page, err := call[Page[T]](p.ctx, p.client, &request, p.options)
	if err != nil {
		p.err = err
		return
	}
	p.page, p.next, p.query = page, 0, query
}

// following returns the query of the next page. With endingBefore it ends before the first item of this one.
func (p *Pager[T]) following() (string, bool) {
	if !p.page.HasMore {
		return "", false
	}
	if getQuery(p.request.query, "endingBefore") == "" {
		return setQuery(p.request.query, "startingAfter", p.page.NextCursor), p.page.NextCursor != ""
	}
	first := p.firstID()
	return setQuery(p.request.query, "endingBefore", first), first != ""
}

func (p *Pager[T]) firstID() string {
	var page struct{ Data []struct{ ID string } }
	if json.Unmarshal(p.page.RawJSON(), &page) != nil || len(page.Data) == 0 {
		return ""
	}
	return page.Data[0].ID
}
