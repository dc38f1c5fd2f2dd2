package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/switchback-ci/switchback/bot/github"
	"github.com/switchback-ci/switchback/bot/ledger"
	"github.com/switchback-ci/switchback/bot/ledger/gitbranch"
	"github.com/switchback-ci/switchback/bot/render"
	"github.com/switchback-ci/switchback/routing"
)

func packetCommand(s streams, getenv func(string) string) *cobra.Command {
	c := &cobra.Command{Use: "packet", Short: "Read the packet of a comment"}
	c.AddCommand(packetVerifyCommand(s, getenv))
	return c
}

// packetVerify is where a comment stands, and what it is verified against.
type packetVerify struct {
	repo, author, login, ledger, branch string

	checkpoint string // whose packet is printed, "" for all
	issue      int
	getenv     func(string) string
}

func packetVerifyCommand(s streams, getenv func(string) string) *cobra.Command {
	v := packetVerify{getenv: getenv}
	c := &cobra.Command{
		Use:   "verify --repo OWNER/NAME --issue N [FILE|-]",
		Short: "Print the packets of a comment if Switchback posted it, and fail otherwise",
		Long: "Print the packets of a comment if Switchback posted it, and fail otherwise: a JSON document for\n" +
			"each checkpoint that does not pass, or that of --checkpoint.\n\n" +
			"Without a file, Switchback's newest comment on the pull request is read from GitHub, with the\n" +
			"token in SWITCHBACK_GITHUB_TOKEN or GITHUB_TOKEN. Of a file, --author says who wrote it. The\n" +
			"packet's run has to be the newest of the ledger: that of --ledger, or the repository's branch.",
		Args: cobra.MaximumNArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			text, err := v.run(c.Context(), s, args)
			if err != nil {
				return err
			}
			fmt.Fprintf(s.out, "%s\n", text)
			return nil
		},
	}
	c.Flags().StringVar(&v.repo, "repo", "", "repository of the pull request, OWNER/NAME")
	c.Flags().IntVar(&v.issue, "issue", 0, "number of the pull request")
	c.Flags().StringVar(&v.checkpoint, "checkpoint", "", "print the packet of this checkpoint alone")
	c.Flags().StringVar(&v.author, "author", "", "login of who wrote the comment of the file")
	c.Flags().StringVar(&v.login, "bot-login", "github-actions[bot]", "login that Switchback posts under")
	c.Flags().StringVar(&v.ledger, "ledger", "", ledgerHelp)
	c.Flags().StringVar(&v.branch, "ledger-branch", "switchback-ledger", "branch of the ledger in the repository")
	return c
}

func (v packetVerify) run(ctx context.Context, s streams, args []string) ([]byte, error) {
	repo, err := github.ParseRepo(v.repo)
	if err != nil || v.issue <= 0 {
		return nil, usage("say where the comment is, with --repo OWNER/NAME and --issue N")
	}
	gh, err := githubClient(v.repo, v.getenv)
	if err != nil {
		return nil, failed(err)
	}
	var body, author string
	switch {
	case len(args) == 1:
		if author = v.author; author == "" {
			return nil, usage("say who wrote the comment of the file, with --author LOGIN")
		}
		body, err = s.comment(args[0])
	case gh == nil:
		return nil, usage("there is no token; set GITHUB_TOKEN, or name a file and --author")
	default:
		body, author, err = v.newest(ctx, gh, repo)
	}
	if err != nil {
		return nil, failed(err)
	}
	if !strings.EqualFold(author, v.login) {
		return nil, failed(fmt.Errorf("the comment is by %q, not by %q", author, v.login))
	}
	all, err := render.VerifyPackets(body)
	if err != nil {
		return nil, failed(err)
	}
	var out [][]byte
	var heads []render.PacketHead
	for _, p := range all {
		if v.checkpoint != "" && p.Checkpoint != v.checkpoint {
			continue
		}
		if here := repo.String() + "#" + strconv.Itoa(v.issue); p.Case != here {
			return nil, failed(fmt.Errorf("the packet is of %s, and stands on %s", p.Case, here))
		}
		out, heads = append(out, p.JSON), append(heads, p.PacketHead)
	}
	if len(out) == 0 {
		return nil, failed(fmt.Errorf("the comment has no packet of checkpoint %q", v.checkpoint))
	}
	return bytes.Join(out, []byte("\n")), failedIf(v.recorded(ctx, s, gh, repo, heads))
}

// newest returns the newest comment of the bot with a marker, and otherwise that of whoever wrote one.
func (v packetVerify) newest(ctx context.Context, gh *github.Client, repo github.Repo) (body, author string, err error) {
	all, err := gh.Comments.Marked(ctx, repo, v.issue)
	if err != nil {
		return "", "", err
	}
	for _, c := range all {
		_, bad := render.VerifyPackets(c.Body)
		ours := strings.EqualFold(c.Login, v.login)
		if body == "" || ours && (bad == nil || !strings.EqualFold(author, v.login)) {
			body, author = c.Body, c.Login
		}
	}
	if body == "" {
		err = fmt.Errorf("no comment on %s#%d has a marker of Switchback", repo, v.issue)
	}
	return body, author, err
}

// recorded compares the packets of a case with the ledger, as far as one can be read.
func (v packetVerify) recorded(ctx context.Context, s streams, gh *github.Client, repo github.Repo, heads []render.PacketHead) error {
	var led ledger.Ledger
	switch {
	case v.ledger != "":
		var err error
		if led, err = openExisting(ctx, v.ledger); err != nil {
			return err
		}
	case gh != nil:
		led = gitbranch.NewGit(gh, repo, v.branch)
	default:
		fmt.Fprintln(s.err, "no ledger is at hand: the packet's run is not compared with it")
		return nil
	}
	key := heads[0].Case
	events, _, err := led.Load(ctx, key)
	switch {
	case v.ledger == "" && (err != nil || len(events) == 0):
		fmt.Fprintln(s.err, "the repository has no ledger of the case: the packet's run is not compared with it")
		return nil
	case err != nil:
		return err
	}
	c, err := routing.Fold(key, events)
	for _, head := range heads {
		if err == nil {
			err = head.Recorded(c)
		}
	}
	return err
}

// comment reads the comment of a file, "-" for standard input.
func (s streams) comment(name string) (string, error) {
	in := s.in
	if name != "-" {
		f, err := os.Open(name)
		if err != nil {
			return "", err
		}
		defer f.Close()
		in = f
	}
	const most = 1 << 20
	b, err := io.ReadAll(io.LimitReader(in, most+1))
	if err == nil && len(b) > most {
		err = errors.New("the comment is larger than any on GitHub")
	}
	return string(b), err
}
