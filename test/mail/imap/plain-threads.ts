/**
 * THREAD=REFERENCES as RFC 5256 section 3 describes it, step by step and without any thought of time. It is the oracle of the real one.
 */
import { compareDates, type Thread, type ThreadRow } from '../../../src/mail/imap/thread.ts';

type Node = { row: ThreadRow | undefined; parent: Node | undefined; children: Node[] };

export function threadPlainly(rows: readonly ThreadRow[]): Thread[] {
  const nodes = link(rows);
  const roots = nodes.filter(({ parent }) => !parent).flatMap(prune);
  for (const root of roots) if (!root.row) sortSiblings(root.children);
  const merged = merge(sortSiblings(roots));
  for (const root of merged) sortAll(root);
  return sortSiblings(merged).map(toThread);
}

/** Step 1. */
function link(rows: readonly ThreadRow[]): Node[] {
  const byId = new Map<string, Node>();
  const nodes: Node[] = [];
  const add = (row: ThreadRow | undefined): Node => {
    const node: Node = { row, parent: undefined, children: [] };
    nodes.push(node);
    return node;
  };
  for (const row of rows) {
    const node = add(row);
    const { messageId } = row.thread;
    if (messageId !== null && !byId.has(messageId)) byId.set(messageId, node);
  }
  const adopt = (parent: Node | undefined, child: Node): void => {
    for (let above = parent; above; above = above.parent) if (above === child) return;
    if (!parent) return;
    child.parent = parent;
    parent.children.push(child);
  };
  for (const [index, row] of rows.entries()) {
    const chain = row.thread.references.map((id) => {
      const node = byId.get(id) ?? add(undefined);
      byId.set(id, node);
      return node;
    });
    for (const [place, referred] of chain.entries()) if (!referred.parent) adopt(chain[place - 1], referred);
    const own = nodes[index] as Node;
    if (own.parent) own.parent.children = own.parent.children.filter((child) => child !== own);
    own.parent = undefined;
    adopt(chain.at(-1), own);
  }
  return nodes;
}

/** Step 3: returns what takes the place of a node at the top. */
function prune(root: Node): Node[] {
  root.children = root.children.flatMap(withoutStandIns);
  if (root.row) return [root];
  return root.children.length > 1 ? [root] : root.children;
}

function withoutStandIns(node: Node): Node[] {
  node.children = node.children.flatMap(withoutStandIns);
  return node.row ? [node] : node.children;
}

function first({ row, children }: Node): ThreadRow {
  return row ?? first(children[0] as Node);
}

function sortSiblings(nodes: Node[]): Node[] {
  return nodes.sort((one, other) => compareDates(first(one), first(other)));
}

/** Step 6. */
function sortAll(node: Node): void {
  for (const child of node.children) sortAll(child);
  sortSiblings(node.children);
}

/** Step 5. */
function merge(roots: readonly Node[]): Node[] {
  const subjectOf = (node: Node): string => first(node).keys.baseSubject;
  const isReply = (node: Node): boolean => node.row?.keys.isReply === true;
  const table = new Map<string, Node>();
  for (const node of roots) {
    const known = table.get(subjectOf(node));
    if (subjectOf(node) === '') continue;
    if (!known || (known.row && (!node.row || (isReply(known) && !isReply(node)))))
      table.set(subjectOf(node), node);
  }
  let left = [...roots];
  for (const node of roots) {
    const subject = subjectOf(node);
    const known = table.get(subject);
    if (!known || known === node) continue;
    left = left.filter((one) => one !== node);
    if (!known.row && !node.row) known.children.push(...node.children);
    else if (!known.row || (isReply(node) && !isReply(known))) known.children.push(node);
    else {
      const joined: Node = { row: undefined, parent: undefined, children: [known, node] };
      left = [...left.filter((one) => one !== known), joined];
      table.set(subject, joined);
    }
  }
  return left;
}

function toThread({ row, children }: Node): Thread {
  return { number: row?.number, children: children.map(toThread) };
}
