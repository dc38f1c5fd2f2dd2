package plan

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"
)

// Channel joins the two workers of a port, so that they need not go through
// their operator.
type Channel struct {
	ID        string        `json:"id"`
	SessionA  string        `json:"session_a"` // the implementing worker
	SessionB  string        `json:"session_b"` // the testing worker
	Status    ChannelStatus `json:"status"`
	CreatedAt time.Time     `json:"created_at"`
}

// ChannelStatus says whether a channel takes messages.
type ChannelStatus string

// The statuses of a channel.
const (
	ChannelActive ChannelStatus = "active"
	ChannelClosed ChannelStatus = "closed"
)

// MessageType is what a message is for.
type MessageType string

// The types of messages.
const (
	ResultMessage   MessageType = "result"
	FeedbackMessage MessageType = "feedback"
	QueryMessage    MessageType = "query"
)

// MessageTypes lists the types of messages.
func MessageTypes() []MessageType {
	return []MessageType{ResultMessage, FeedbackMessage, QueryMessage}
}

// Message is one message on a channel.
type Message struct {
	ID          string          `json:"id"`
	ChannelID   string          `json:"channel_id"`
	From        string          `json:"from"`
	To          string          `json:"to"`
	Type        MessageType     `json:"type"`
	Payload     json.RawMessage `json:"payload,omitempty"`
	CreatedAt   time.Time       `json:"created_at"`
	DeliveredAt time.Time       `json:"delivered_at,omitzero"`
}

// What a channel refuses.
var (
	ErrNoChannel     = errors.New("there is no such channel")
	ErrChannelClosed = errors.New("the channel is closed")
	ErrNotMember     = errors.New("only the two workers of a channel may use it")
)

// maxPayload is the length of a payload in bytes.
const maxPayload = 1 << 20

// Mail is channels and what was sent on them, in the order it was sent.
type Mail struct {
	Channels []Channel `json:"channels"`
	Messages []Message `json:"messages"`
}

// Open makes a channel between two sessions. The same again changes nothing;
// another channel of that id is an error.
func (m *Mail) Open(id, impl, test string, at time.Time) (Channel, error) {
	if id == "" || impl == "" || test == "" || impl == test {
		return Channel{}, fmt.Errorf("a channel %q between %q and %q; it needs an id and two sessions that differ", id, impl, test)
	}
	if i := m.channel(id); i >= 0 {
		c := m.Channels[i]
		if c.SessionA != impl || c.SessionB != test {
			return Channel{}, fmt.Errorf("channel %q joins %q and %q already", id, c.SessionA, c.SessionB)
		}
		return c, nil
	}
	c := Channel{id, impl, test, ChannelActive, at}
	m.Channels = append(m.Channels, c)
	return c, nil
}

func (m *Mail) channel(id string) int {
	return slices.IndexFunc(m.Channels, func(c Channel) bool { return c.ID == id })
}

// active returns a channel that takes messages and has the session.
func (m *Mail) active(id, session string) (Channel, error) {
	i := m.channel(id)
	switch {
	case i < 0:
		return Channel{}, fmt.Errorf("%q: %w", id, ErrNoChannel)
	case m.Channels[i].Status != ChannelActive:
		return Channel{}, fmt.Errorf("%q: %w", id, ErrChannelClosed)
	case session != m.Channels[i].SessionA && session != m.Channels[i].SessionB:
		return Channel{}, fmt.Errorf("session %q on channel %q: %w", session, id, ErrNotMember)
	}
	return m.Channels[i], nil
}

// Send stores a message. One whose id is there already changes nothing, so that
// a sender that was killed may send again.
func (m *Mail) Send(msg Message) error {
	c, err := m.active(msg.ChannelID, msg.From)
	if err != nil {
		return err
	}
	switch {
	case msg.ID == "":
		return errors.New("a message without an id")
	case msg.To == msg.From || msg.To != c.SessionA && msg.To != c.SessionB:
		return fmt.Errorf("a message from %q to %q: %w", msg.From, msg.To, ErrNotMember)
	case !slices.Contains(MessageTypes(), msg.Type):
		return fmt.Errorf("message type %q; known are result, feedback, query", msg.Type)
	case len(msg.Payload) > maxPayload:
		return fmt.Errorf("a payload of %d bytes; the most is %d", len(msg.Payload), maxPayload)
	case len(msg.Payload) > 0 && !json.Valid(msg.Payload):
		return errors.New("the payload is no JSON")
	case slices.ContainsFunc(m.Messages, func(old Message) bool { return old.ID == msg.ID }):
		return nil
	}
	msg.DeliveredAt = time.Time{}
	m.Messages = append(m.Messages, msg)
	return nil
}

// Receive returns what a session was sent and has not received yet, in the
// order it was sent, and marks it as delivered at now.
func (m *Mail) Receive(channel, session string, now time.Time) ([]Message, error) {
	if _, err := m.active(channel, session); err != nil {
		return nil, err
	}
	var out []Message
	for i := range m.Messages {
		msg := &m.Messages[i]
		if msg.ChannelID == channel && msg.To == session && msg.DeliveredAt.IsZero() {
			msg.DeliveredAt = now
			out = append(out, *msg)
		}
	}
	return out, nil
}

// Close ends a channel. What was not received stays stored.
func (m *Mail) Close(id string) error {
	i := m.channel(id)
	if i < 0 {
		return fmt.Errorf("%q: %w", id, ErrNoChannel)
	}
	m.Channels[i].Status = ChannelClosed
	return nil
}
