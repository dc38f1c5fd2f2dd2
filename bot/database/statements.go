package database

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"fmt"
	"io"
)

// mostStatements bounds the prepared statements that a connection keeps.
const mostStatements = 200

// openSQLite opens an SQLite database whose connections keep their prepared statements: to parse a
// statement takes longer than most of ours need to run, and the driver parses it at each call, as those
// of the queue's library come.
func openSQLite(uri string) (*sql.DB, error) {
	named, err := sql.Open("sqlite", uri) // which connects to nothing yet
	if err != nil {
		return nil, err
	}
	d := named.Driver()
	if err := named.Close(); err != nil {
		return nil, err
	}
	return sql.OpenDB(connector{d, uri}), nil
}

// connector implements driver.Connector.
type connector struct {
	driver driver.Driver
	uri    string
}

// Driver implements driver.Connector.
func (c connector) Driver() driver.Driver { return c.driver }

// Connect implements driver.Connector.
func (c connector) Connect(context.Context) (driver.Conn, error) {
	opened, err := c.driver.Open(c.uri)
	if err != nil {
		return nil, err
	}
	conn, ok := opened.(sqliteConn)
	if !ok {
		return nil, fmt.Errorf("the driver's %T lacks what a connection needs", opened)
	}
	return &keepingConn{conn, map[string]*keptStatement{}}, nil
}

// sqliteConn is what a connection of the driver does.
type sqliteConn interface {
	driver.Conn
	driver.ConnBeginTx
	driver.ConnPrepareContext
	driver.ExecerContext
	driver.Pinger
	driver.QueryerContext
	driver.SessionResetter
	driver.Validator
}

// sqliteStatement is what a statement of the driver does.
type sqliteStatement interface {
	driver.Stmt
	driver.StmtExecContext
	driver.StmtQueryContext
}

// keepingConn is a connection that keeps the statements which it has prepared. One goroutine at a time
// uses it.
type keepingConn struct {
	sqliteConn
	kept map[string]*keptStatement // by text
}

type keptStatement struct {
	sqliteStatement
	busy bool // its rows are being read
}

// statement returns the kept statement of a text, or nil if this is to run without one: a text without
// parameters runs rarely, and one whose rows are being read cannot run again.
func (c *keepingConn) statement(ctx context.Context, text string, args []driver.NamedValue) (*keptStatement, error) {
	if len(args) == 0 {
		return nil, nil
	}
	if s := c.kept[text]; s != nil {
		if s.busy {
			return nil, nil
		}
		return s, nil
	}
	prepared, err := c.PrepareContext(ctx, text)
	if err != nil {
		return nil, err
	}
	s, ok := prepared.(sqliteStatement)
	if !ok {
		return nil, prepared.Close()
	}
	if len(c.kept) >= mostStatements {
		c.drop()
	}
	c.kept[text] = &keptStatement{sqliteStatement: s}
	return c.kept[text], nil
}

// drop closes the statements that are not in use.
func (c *keepingConn) drop() {
	for text, s := range c.kept {
		if !s.busy {
			delete(c.kept, text)
			_ = s.Close() // its last error was returned when it ran
		}
	}
}

// ExecContext implements driver.ExecerContext.
func (c *keepingConn) ExecContext(ctx context.Context, text string, args []driver.NamedValue) (driver.Result, error) {
	s, err := c.statement(ctx, text, args)
	if err != nil {
		return nil, err
	}
	if s == nil {
		return c.sqliteConn.ExecContext(ctx, text, args)
	}
	return s.ExecContext(ctx, args)
}

// QueryContext implements driver.QueryerContext.
func (c *keepingConn) QueryContext(ctx context.Context, text string, args []driver.NamedValue) (driver.Rows, error) {
	s, err := c.statement(ctx, text, args)
	if err != nil {
		return nil, err
	}
	if s == nil {
		return c.sqliteConn.QueryContext(ctx, text, args)
	}
	rows, err := s.QueryContext(ctx, args)
	if err != nil {
		return nil, err
	}
	s.busy = true
	return &keptRows{rows, s}, nil
}

// Close implements driver.Conn.
func (c *keepingConn) Close() error {
	for _, s := range c.kept {
		_ = s.Close() // its last error was returned when it ran
	}
	c.kept = nil
	return c.sqliteConn.Close()
}

// keptRows are the rows of a kept statement, which is free again once they are closed.
type keptRows struct {
	driver.Rows
	of *keptStatement
}

// Close implements driver.Rows.
func (r *keptRows) Close() error {
	if r.of == nil {
		return nil
	}
	r.of.busy = false
	r.of = nil
	return r.Rows.Close()
}

// Next implements driver.Rows.
func (r *keptRows) Next(into []driver.Value) error {
	if r.of == nil {
		return io.EOF
	}
	return r.Rows.Next(into)
}
