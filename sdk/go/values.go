package postrider

import "encoding/json"

// Ptr returns a pointer to a value, for fields that may be absent.
func Ptr[T any](value T) *T { return &value }

// Nullable is a field of a change that is absent (its zero value), null (Null) or a value (Value).
type Nullable[T any] []*T

// Value returns a Nullable with a value.
func Value[T any](value T) Nullable[T] { return Nullable[T]{&value} }

// Null returns a Nullable that is null on the wire.
func Null[T any]() Nullable[T] { return Nullable[T]{nil} }

// MarshalJSON writes the value, or null.
func (n Nullable[T]) MarshalJSON() ([]byte, error) {
	if len(n) == 0 {
		return []byte("null"), nil
	}
	return json.Marshal(n[0])
}

// UnmarshalJSON reads a value or null.
func (n *Nullable[T]) UnmarshalJSON(text []byte) error {
	var value *T
	if err := json.Unmarshal(text, &value); err != nil {
		return err
	}
	*n = Nullable[T]{value}
	return nil
}

// OneOrMany is a list of strings. On the wire it may also be one string.
type OneOrMany []string

// UnmarshalJSON reads a string or a list of them.
func (o *OneOrMany) UnmarshalJSON(text []byte) error {
	var one string
	if json.Unmarshal(text, &one) == nil {
		*o = OneOrMany{one}
		return nil
	}
	return json.Unmarshal(text, (*[]string)(o))
}
