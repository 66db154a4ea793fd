/** Groups messages into threads (RFC 5256 section 3). */
import { sortInSteps } from '../../system/sort-in-steps.ts';
import { createStepCounter, type Steps } from '../../system/steps.ts';
import type { SortKeys, ThreadKeys } from '../message/sort-keys.ts';
import { Forest, ForestNode } from './link-cut-tree.ts';
import { compareTexts, sentAt } from './sort.ts';

export type ThreadAlgorithm = 'ORDEREDSUBJECT' | 'REFERENCES';

/** Returns the threads in the order of their first messages. The rows are in the order of the mailbox. */
export function threadMessages(algorithm: ThreadAlgorithm, rows: readonly ThreadRow[]): Steps<Thread[]> {
  return algorithm === 'REFERENCES' ? threadByReferences(rows) : threadBySubject(rows);
}

/** Messages with the same base subject answer the first one of them. */
function* threadBySubject(rows: readonly ThreadRow[]): Steps<Thread[]> {
  const isDue = createStepCounter();
  const sorted = yield* sortInSteps(
    rows,
    (one, other) => compareTexts(one.keys.baseSubject, other.keys.baseSubject) || compareDates(one, other),
  );
  const threads: { first: ThreadRow; thread: Thread }[] = [];
  for (const row of sorted) {
    const last = threads.at(-1);
    const leaf: Thread = { number: row.number, children: [] };
    if (last?.first.keys.baseSubject === row.keys.baseSubject) last.thread.children.push(leaf);
    else threads.push({ first: row, thread: leaf });
    if (isDue(1)) yield;
  }
  const byDate = yield* sortInSteps(threads, (one, other) => compareDates(one.first, other.first));
  return byDate.map(({ thread }) => thread);
}

/** Types of threads: the messages that go in, and the tree that comes out. */
export type ThreadRow = {
  /** Sequence number or UID, which the result consists of. Numbers rise in the order of the mailbox. */
  number: number;
  /** Internal date in Unix milliseconds. */
  internalAt: number;
  keys: Pick<SortKeys, 'baseSubject' | 'isReply' | 'sent'>;
  thread: ThreadKeys;
};

/** A message and those that answer it. `number` is undefined for a parent that is not among the messages. */
export type Thread = { number: number | undefined; children: Thread[] };

/** Compares the dates of two messages, and their places in the mailbox where the dates are equal (RFC 5256 section 2.2). */
export function compareDates(one: ThreadRow, other: ThreadRow): number {
  return sentAt(one) - sentAt(other) || one.number - other.number;
}

/**
 * THREAD=REFERENCES (RFC 5256 section 3). Strangers decide how many references messages have, and how deep threads are: nothing here
 * recurses, and the time grows with the references, times the logarithm of their number.
 */

/** A message, or the stand-in for one that is referred to and is not there. The forest has the links of all nodes that have a parent. */
class Node extends ForestNode {
  readonly row: ThreadRow | undefined;
  parent: Node | undefined;
  /** True when a node was its child at some time. */
  wasParent = false;
  children: Node[] = [];
  /** Place of the message among all messages by date. A stand-in has that of its first child. */
  rank = Number.POSITIVE_INFINITY;

  constructor(row?: ThreadRow) {
    super();
    this.row = row;
  }
}

/** Returns the threads of the rows, which are in the order of the mailbox. */
function* threadByReferences(rows: readonly ThreadRow[]): Steps<Thread[]> {
  const byDate = yield* sortInSteps(yield* linkMessages(rows), compareRows);
  const roots = yield* gatherThreads(byDate);
  const merged = yield* mergeSubjects(roots);
  return yield* toThreads(yield* sortInSteps(merged, compareRanks));
}

/** Step 1: links messages by their references. Returns the nodes of the rows. */
function* linkMessages(rows: readonly ThreadRow[]): Steps<Node[]> {
  const isDue = createStepCounter();
  const byId = new Map<string, Node>();
  const owned: Node[] = [];
  for (const row of rows) {
    owned.push(ownNode(row, byId));
    if (isDue(1)) yield;
  }
  const links = new Links();
  for (const node of owned) {
    let parent: Node | undefined;
    for (const id of node.row?.thread.references ?? []) {
      const referred = byId.get(id) ?? new Node();
      byId.set(id, referred);
      if (!referred.parent) links.add(parent, referred);
      parent = referred;
      if (isDue(links.takeOperations())) yield;
    }
    // A message is a child of the last of its references, whatever the references of other messages say.
    links.remove(node);
    links.add(parent, node);
    if (isDue(links.takeOperations())) yield;
  }
  return owned;
}

/** Returns a new node. It is found by its Message-ID when no message before it has the same one. */
function ownNode(row: ThreadRow, byId: Map<string, Node>): Node {
  const node = new Node(row);
  const id = row.thread.messageId;
  if (id !== null && !byId.has(id)) byId.set(id, node);
  return node;
}

/** The links from nodes to their parents, which never form a loop. */
class Links {
  readonly #forest = new Forest();
  #counted = 0;

  /** Makes a node without a parent the child of another one, unless it is one of its ancestors. */
  add(parent: Node | undefined, child: Node): void {
    if (!parent || parent === child) return;
    // Most nodes have no children yet, and need no search.
    if (child.wasParent && this.#forest.rootOf(parent) === child) return;
    this.#forest.link(parent, child);
    child.parent = parent;
    parent.wasParent = true;
  }

  /** Takes the link to the parent away, where there is one. */
  remove(child: Node): void {
    if (!child.parent) return;
    this.#forest.cut(child);
    child.parent = undefined;
  }

  /** Returns the number of operations since the last call, and one for the call. */
  takeOperations(): number {
    const { visited } = this.#forest;
    const operations = 1 + visited - this.#counted;
    this.#counted = visited;
    return operations;
  }
}

/**
 * Steps 2 to 4: returns the nodes without a parent by date. Stand-ins disappear, and their children move up to the next message. A
 * stand-in without a parent stays when it has several children. The messages come by date, so that children and roots are sorted.
 */
function* gatherThreads(byDate: readonly Node[]): Steps<Node[]> {
  const isDue = createStepCounter();
  const tops = new Set<Node>();
  for (const [rank, node] of byDate.entries()) {
    node.rank = rank;
    const { ancestor: parent, operations } = findAncestor(node);
    parent?.children.push(node);
    if (!parent?.row) {
      const top = parent ?? node;
      top.rank = Math.min(top.rank, rank);
      tops.add(top);
    }
    if (isDue(operations)) yield;
  }
  const roots: Node[] = [];
  for (const top of tops) {
    const [only, ...more] = top.children.slice(0, 2);
    roots.push(top.row || !only || more.length > 0 ? top : only);
    if (isDue(1)) yield;
  }
  return roots;
}

type Found = { ancestor: Node | undefined; operations: number };

/** Finds the next ancestor that is a message, or the stand-in at the top. The way there becomes shorter for the next search. */
function findAncestor({ parent }: Node): Found {
  let operations = 1;
  let ancestor = parent;
  for (; ancestor && !ancestor.row && ancestor.parent; operations++) ancestor = ancestor.parent;
  for (let node = parent; node && node !== ancestor; ) {
    const next = node.parent;
    node.parent = ancestor;
    node = next;
  }
  return { ancestor, operations };
}

function compareRows(one: Node, other: Node): number {
  return one.row && other.row ? compareDates(one.row, other.row) : 0;
}

function compareRanks(one: Node, other: Node): number {
  return one.rank - other.rank;
}

/** Steps 5 and 6: joins threads with the same base subject, and sorts the children of those that have got more. */
function* mergeSubjects(roots: readonly Node[]): Steps<Node[]> {
  const isDue = createStepCounter();
  const bySubject = new Map<string, Node>();
  for (const node of roots) {
    const subject = subjectOf(node);
    const known = bySubject.get(subject);
    const isBetter = known?.row && (!node.row || (isReply(known) && !isReply(node)));
    if (subject !== '' && (!known || isBetter)) bySubject.set(subject, node);
    if (isDue(1)) yield;
  }
  const left = new Set(roots);
  const grown = new Set<Node>();
  for (const node of roots) {
    const subject = subjectOf(node);
    const known = bySubject.get(subject);
    if (!known || known === node) continue;
    left.delete(node);
    if (!known.row && !node.row) {
      for (const child of node.children) known.children.push(child);
      if (isDue(node.children.length)) yield;
    } else if (!known.row || (isReply(node) && !isReply(known))) {
      known.children.push(node);
    } else {
      const joined = new Node();
      joined.children.push(known, node);
      left.delete(known);
      left.add(joined);
      bySubject.set(subject, joined);
    }
    grown.add(bySubject.get(subject) ?? known);
    if (isDue(1)) yield;
  }
  for (const node of grown) {
    node.children = yield* sortInSteps(node.children, compareRanks);
    if (!node.row) node.rank = node.children[0]?.rank ?? node.rank;
    if (isDue(1)) yield;
  }
  return [...left];
}

/** A stand-in has the subject of its first child. */
function subjectOf({ row, children }: Node): string {
  return (row ?? children[0]?.row)?.keys.baseSubject ?? '';
}

function isReply({ row }: Node): boolean {
  return row?.keys.isReply === true;
}

function* toThreads(roots: readonly Node[]): Steps<Thread[]> {
  const isDue = createStepCounter();
  const threadOf = ({ row }: Node): Thread => ({ number: row?.number, children: [] });
  const threads = roots.map((node) => ({ node, thread: threadOf(node) }));
  const open = [...threads];
  for (let next = open.pop(); next; next = open.pop()) {
    for (const node of next.node.children) {
      const thread = threadOf(node);
      next.thread.children.push(thread);
      open.push({ node, thread });
    }
    if (isDue(1)) yield;
  }
  return threads.map(({ thread }) => thread);
}
