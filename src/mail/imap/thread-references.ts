/**
 * THREAD=REFERENCES (RFC 5256 section 3). Nothing here recurses, because strangers decide how deep threads are, and the steps take nearly
 * linear time.
 */
import { compareDates, type Thread, type ThreadRow } from './thread-row.ts';

/** A message, or the stand-in for one that is referred to and is not there. */
type Node = {
  row: ThreadRow | undefined;
  parent: Node | undefined;
  /** True when a node was its child at some time. */
  wasParent: boolean;
  children: Node[];
};

/** Returns the threads of the rows, which are in the order of the mailbox. */
export function threadByReferences(rows: readonly ThreadRow[]): Thread[] {
  const messages = linkMessages(rows);
  const roots = sortByDate(gatherThreads(messages));
  return toThreads(sortByDate(mergeSubjects(roots)));
}

/** Step 1: links messages by their references. Returns the nodes of the rows. */
function linkMessages(rows: readonly ThreadRow[]): Node[] {
  const byId = new Map<string, Node>();
  const owned = rows.map((row) => ownNode(row, byId));
  for (const node of owned) {
    let parent: Node | undefined;
    for (const id of node.row?.thread.references ?? []) {
      const referred = byId.get(id) ?? newNode(undefined);
      byId.set(id, referred);
      if (!referred.parent) link(parent, referred);
      parent = referred;
    }
    // A message is a child of the last of its references, whatever the references of other messages say.
    node.parent = undefined;
    link(parent, node);
  }
  return owned;
}

/** Returns a new node. It is found by its Message-ID when no message before it has the same one. */
function ownNode(row: ThreadRow, byId: Map<string, Node>): Node {
  const node = newNode(row);
  const id = row.thread.messageId;
  if (id !== null && !byId.has(id)) byId.set(id, node);
  return node;
}

function newNode(row: ThreadRow | undefined): Node {
  return { row, parent: undefined, wasParent: false, children: [] };
}

/** Makes a node without a parent the child of another one, unless it is one of its ancestors. */
function link(parent: Node | undefined, child: Node): void {
  if (!parent || parent === child) return;
  if (child.wasParent) {
    for (let ancestor = parent.parent; ancestor; ancestor = ancestor.parent) if (ancestor === child) return;
  }
  child.parent = parent;
  parent.wasParent = true;
}

/**
 * Steps 2 and 3: returns the nodes without a parent. Stand-ins disappear, and their children move up to the next message. A
 * stand-in without a parent stays when it has several children.
 */
function gatherThreads(messages: readonly Node[]): Node[] {
  const tops = new Set<Node>();
  for (const node of messages) {
    const parent = findAncestor(node);
    parent?.children.push(node);
    if (!parent?.row) tops.add(parent ?? node);
  }
  return [...tops].map((top) => {
    const [only, ...more] = top.children;
    return top.row || !only || more.length > 0 ? top : only;
  });
}

/** Returns the next ancestor that is a message, or the stand-in at the top. The way there becomes shorter for the next search. */
function findAncestor({ parent }: Node): Node | undefined {
  let found = parent;
  while (found && !found.row && found.parent) found = found.parent;
  for (let node = parent; node && node !== found; ) {
    const next = node.parent;
    node.parent = found;
    node = next;
  }
  return found;
}

/** Steps 4 and 6: sorts these nodes and the children of each. A stand-in has the date of its first child. */
function sortByDate(roots: Node[]): Node[] {
  const open = [...roots];
  for (let node = open.pop(); node; node = open.pop()) {
    if (node.children.length > 1) node.children.sort(compareNodes);
    for (const child of node.children) open.push(child);
  }
  return roots.sort(compareNodes);
}

function compareNodes(one: Node, other: Node): number {
  const [first, second] = [firstRow(one), firstRow(other)];
  return first && second ? compareDates(first, second) : 0;
}

function firstRow({ row, children }: Node): ThreadRow | undefined {
  return row ?? children[0]?.row;
}

/** Step 5: joins threads with the same base subject. */
function mergeSubjects(roots: readonly Node[]): Node[] {
  const bySubject = new Map<string, Node>();
  for (const node of roots) {
    const subject = subjectOf(node);
    const known = bySubject.get(subject);
    const isBetter = known?.row && (!node.row || (isReply(known) && !isReply(node)));
    if (subject !== '' && (!known || isBetter)) bySubject.set(subject, node);
  }
  const left = new Set(roots);
  for (const node of roots) {
    const subject = subjectOf(node);
    const known = bySubject.get(subject);
    if (!known || known === node) continue;
    left.delete(node);
    if (!known.row && !node.row) {
      for (const child of node.children) known.children.push(child);
    } else if (!known.row || (isReply(node) && !isReply(known))) {
      known.children.push(node);
    } else {
      const joined = { ...newNode(undefined), children: [known, node] };
      left.delete(known);
      left.add(joined);
      bySubject.set(subject, joined);
    }
  }
  return [...left];
}

function subjectOf(node: Node): string {
  return firstRow(node)?.keys.baseSubject ?? '';
}

function isReply({ row }: Node): boolean {
  return row?.keys.isReply === true;
}

function toThreads(roots: readonly Node[]): Thread[] {
  const threadOf = ({ row }: Node): Thread => ({ number: row?.number, children: [] });
  const threads = roots.map((node) => ({ node, thread: threadOf(node) }));
  const open = [...threads];
  for (let next = open.pop(); next; next = open.pop()) {
    for (const node of next.node.children) {
      const thread = threadOf(node);
      next.thread.children.push(thread);
      open.push({ node, thread });
    }
  }
  return threads.map(({ thread }) => thread);
}
