/**
 * A forest whose trees are joined and cut, and that finds the root of any node in a time that is logarithmic on average, however deep the
 * trees are (link-cut trees of Sleator and Tarjan). Each tree is kept as paths, and each path as a splay tree in the order of its depth.
 */

/** A node of the forest. It is alone at first. Only this file changes its fields. */
export class ForestNode {
  /** The parts of the path that are nearer to the root, and farther from it. */
  left: ForestNode | undefined;
  right: ForestNode | undefined;
  /** The node above in the splay tree; at its top, the parent of the first node of the path. */
  up: ForestNode | undefined;
}

export class Forest {
  /** Number of nodes that were visited so far, which the time depends on. */
  visited = 0;

  /** Makes the root of one tree the child of a node of another tree. */
  link(parent: ForestNode, root: ForestNode): void {
    this.#expose(root);
    this.#expose(parent);
    root.up = parent;
  }

  /** Cuts a node with everything below it from its parent, which it must have. */
  cut(child: ForestNode): void {
    this.#expose(child);
    if (child.left) child.left.up = undefined;
    child.left = undefined;
  }

  /** Returns the root of the tree of a node. */
  rootOf(node: ForestNode): ForestNode {
    this.#expose(node);
    let root = node;
    while (root.left) {
      this.visited++;
      root = root.left;
    }
    // The next search of this root is short.
    this.#splay(root);
    return root;
  }

  /** Makes the nodes from the root to this one a path of their own, with this node at the top of its splay tree. */
  #expose(node: ForestNode): void {
    let below: ForestNode | undefined;
    for (let top: ForestNode | undefined = node; top; top = top.up) {
      this.#splay(top);
      top.right = below;
      below = top;
    }
    this.#splay(node);
  }

  #splay(node: ForestNode): void {
    this.visited++;
    for (let parent = parentInPath(node); parent; parent = parentInPath(node)) {
      this.visited++;
      const grandparent = parentInPath(parent);
      if (grandparent) rotate((grandparent.left === parent) === (parent.left === node) ? parent : node);
      rotate(node);
    }
  }
}

/** Returns the node above in the splay tree of the same path; undefined at its top. */
function parentInPath(node: ForestNode): ForestNode | undefined {
  const { up } = node;
  return up && (up.left === node || up.right === node) ? up : undefined;
}

/** Puts a node in the place of the one above it in the splay tree, and keeps the order of the path. */
function rotate(node: ForestNode): void {
  const parent = node.up as ForestNode;
  const { up } = parent;
  if (up?.left === parent) up.left = node;
  else if (up?.right === parent) up.right = node;
  const isLeft = parent.left === node;
  const moved = isLeft ? node.right : node.left;
  if (isLeft) {
    parent.left = moved;
    node.right = parent;
  } else {
    parent.right = moved;
    node.left = parent;
  }
  if (moved) moved.up = parent;
  parent.up = node;
  node.up = up;
}
