import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync, statSync } from 'node:fs';
import path from 'node:path';
import fc from 'fast-check';
import type { Parser } from 'web-tree-sitter';
import type { Expression, Statement } from '../../../src/engine/python/ast';
import { LIBRARY_CALLS } from '../../../src/engine/python/libraryCalls';
import { parsePython } from '../../../src/engine/python/parsePython';
import { operatorsByName, spelledFile } from '../../../src/engine/python/spelledOperators';
import { WORKSPACE_FILES } from '../../../src/engine/sample/workspace/files';
import { pythonParser } from '../attribution/parser';

/** The same from the tree, part by part: what a function's expressions launch, in the order of evaluation. */
const SIGNS: Readonly<Record<string, readonly [string, string]>> = { '+': ['add', 'adds'], '-': ['sub', 'subs'], '*': ['mul', 'muls'], '/': ['div', 'divs'], '**': ['pow', 'pow'], '@': ['matmul', 'matmul'] };

function ofTree(body: readonly Statement[]): readonly (readonly string[])[] {
  return body.flatMap((statement): readonly (readonly string[])[] => {
    switch (statement.kind) {
      case 'function': return [statements(statement.body), ...ofTree(statement.body)];
      case 'class': return ofTree(statement.body);
      case 'if': return [...ofTree(statement.then), ...ofTree(statement.otherwise)];
      default: return [];
    }
  });
}

const statements = (body: readonly Statement[]): readonly string[] => body.flatMap((statement) => {
  switch (statement.kind) {
    case 'assign': case 'expression': return operators(statement.value);
    case 'return': return statement.value === undefined ? [] : operators(statement.value);
    case 'augmented': return [...operators(statement.value), ...(SIGNS[statement.operator]?.slice(0, 1) ?? [])];
    case 'if': return [...statements(statement.then), ...statements(statement.otherwise)];
    case 'for': case 'while': case 'with': case 'try': return statements(statement.body);
    case 'match': return statement.cases.flatMap(statements);
    default: return [];
  }
});

function operators(expression: Expression): readonly string[] {
  switch (expression.kind) {
    case 'binary': {
      const names = SIGNS[expression.operator];
      const byNumber = expression.left.kind === 'number' || expression.right.kind === 'number' || ((expression.right.kind === 'name' || expression.right.kind === 'attribute') && /eps|epsilon|scal/i.test(expression.right.name));
      return [...operators(expression.left), ...operators(expression.right), ...(names === undefined ? [] : [names[byNumber ? 1 : 0]])];
    }
    case 'call': {
      const { callee } = expression;
      return [...(callee.kind === 'attribute' ? operators(callee.object) : []), ...expression.args.flatMap(({ value }) => operators(value)), ...called(callee.kind === 'attribute' || callee.kind === 'name' ? callee.name : '')];
    }
    case 'unary': return [...operators(expression.operand), ...(expression.operator === '-' && expression.operand.kind !== 'number' ? ['neg'] : [])];
    case 'boolean': return [...operators(expression.left), ...operators(expression.right)];
    case 'compare': return expression.operands.flatMap(operators);
    case 'conditional': return [...operators(expression.then), ...operators(expression.otherwise)];
    case 'attribute': case 'subscript': return operators(expression.object);
    case 'sequence': return expression.items.flatMap(operators);
    case 'dictionary': return expression.entries.flatMap(({ value }) => operators(value));
    case 'comprehension': return operators(expression.body);
    case 'walrus': case 'splat': case 'await': return operators(expression.value);
    case 'opaque': return expression.parts.flatMap(operators);
    case 'name': case 'number': case 'string': case 'constant': case 'slice': case 'lambda': return [];
  }
}

function called(name: string): readonly string[] {
  const library = LIBRARY_CALLS.get(name);
  if (library === undefined) {
    return /(proj|linear|dense|head|fc\d?|^wi|^wo|^w\d|_attn|c_fc)$/.test(name) ? ['matmul'] : /^(act|act_fn|activation_fn|activation)$/.test(name) ? ['silu'] : [];
  }
  switch (library.kind) {
    case 'operator': case 'reduction': case 'join': return [library.op];
    case 'chain': case 'hostRead': return library.ops;
    case 'arithmetic': return [SIGNS[library.operator][0]];
    default: return [];
  }
}

/** Functions that spell something, in no order: a nested one may be met before or after what follows it. */
const written = (functions: readonly (readonly string[])[]): readonly string[] => functions.map((ops) => ops.join(' ')).filter((ops) => ops !== '').sort();

const spelledOperators = (text: string): readonly (readonly string[])[] => spelledFile(text).all.map(operatorsByName);

describe('operators as a text spells them', () => {
  let parser: Parser;
  before(async () => { parser = await pythonParser(); });

  const checked = (text: string): readonly string[] => {
    const { body, errors } = parsePython(parser, text);
    assert.deepEqual(errors, [], text);
    const ours = written(spelledOperators(text));
    assert.deepEqual(ours, written(ofTree(body)), text);
    return ours;
  };

  const TEXTS: readonly (readonly [string, string, readonly string[]])[] = [
    ['an eager norm', 'class N:\n    def forward(self, x):\n        v = x.float().pow(2).mean(-1, keepdim=True)\n        return self.weight * (x * torch.rsqrt(v + self.eps)).to(x.dtype)\n', ['pow mean adds rsqrt mul mul']],
    ['numbers, epsilons and tensors', 'def f(x):\n    return (2 * x + y - 1e-6) / (3) + self.eps ** -2 + -x - -1\n', ['muls add subs divs pow add neg add sub']],
    ['unary signs bind looser than powers', 'def f(x):\n    return -x ** 2 + 2 ** -x\n', ['pow neg neg pow add']],
    ['indices, conditions, defaults and lambdas launch nothing', 'def f(x, y=a.exp()):\n    z = x[y.exp()].cos() if y.any() else x.sin()\n    g = lambda t: t.exp()\n    if x.max() > 1: z = z.tanh()\n    elif x.min(): pass\n    else: z = z.erf()\n    return z\n', ['cos sin tanh erf']],
    ['only what is called by name', 'def f(x):\n    return self.layers[i.exp()](x.cos()), (x.sin())(y.tanh()), (x.q_proj)(y), g(x.exp())(y.cos())\n', ['cos tanh matmul cos']],
    ['loops, else branches and handlers', 'def f(x):\n    for y in x.exp():\n        y.cos()\n    else:\n        y.sin()\n    while x.exp():\n        x.tanh()\n    else:\n        x.sin()\n    try:\n        x.erf()\n    except E:\n        x.sin()\n    else:\n        x.sin()\n    finally:\n        x.sin()\n    with x.exp() as y, z:\n        x.sigmoid()\n', ['cos tanh erf sigmoid']],
    ['assignments', 'def f(x):\n    a[x.exp()] = b = x.cos(); c: T[x.exp()] = x.sin()\n    d: x.exp()\n    c += x.tanh(); c //= x.erf(); c @= x\n    a, *b = x.abs(), *y.log()\n', ['cos sin tanh add erf matmul abs log']],
    ['collections and comprehensions', 'def f(x):\n    return [y.exp() for y in x.cos() if y.sin()], {k.exp(): v.cos() for k, v in y}, {k.exp(): v.sin(), **w.tanh()}, g(y.erf() for y in x.exp()), {y.abs(), *z}, (y.log() for y in x), ()\n', ['exp cos sin tanh erf abs log']],
    ['keywords, walrus, await, yield', 'async def f(x):\n    y = (z := x.exp())\n    w = yield x.cos()\n    await g(x.sin(), dim=x.tanh(), eps = x.erf())\n    yield from x.abs()\n    return not x.log() is not None and y.sigmoid() not in x\n', ['exp cos sin tanh erf abs log sigmoid']],
    ['strings that look like code', 'def f(x):\n    """x.exp()\n    """\n    y = "x.cos()" \'\\\'x.sin()\' r"\\d\\"" + x.tanh()  # x.erf()\n    z = f"{x.abs():.{n}f} {{x.exp()}} {x.log()!r}"\n    return b"x.exp()", y\n', ['tanh add abs log']],
    ['match', 'def f(x):\n    match x.exp():\n        case {"a": 1} if x.exp():\n            y = x.cos()\n        case _: y = x.sin()\n    match = x.tanh()\n    match(x.erf())\n    return match.abs()\n', ['cos sin tanh erf abs']],
    ['functions in functions, classes and branches, but not in loops', 'if a:\n    def f(x):\n        def g(y):\n            return y.exp()\n        class A:\n            b = x.sin()\n            def h(z): return z.cos()\n        return x.tanh()\nelse:\n    def k(x):\n        return x.erf()\nfor i in j:\n    def no(x):\n        return x.sin()\ntry:\n    def never(x):\n        return x.sin()\nexcept E:\n    pass\n', ['cos', 'erf', 'exp', 'tanh']],
    ['lines joined, tabs, carriage returns, form feeds', 'def f(x):\r\n\ty = x.exp() \\\r\n\t\t+ x.cos()\r\n\f\r\n\tif y: # none\r\n\t\ty = g(x.sin(),\r\n  x.tanh(), # )\r\n)\r\n        # at the margin\r\n\treturn y\r\n', ['exp cos add sin tanh']],
    ['decorators and type parameters', '@a.exp()\n@(lambda f: f)\nclass A[T](B[x.exp()], metaclass=C):\n    @property\n    def f[T: (int, str)](self, x: "T" = x.exp(), /, *, y: int = 3, **kw) -> Dict[str, x.exp()]:\n        assert x.exp()\n        del y\n        raise E(x.exp()) from e\n        return x.cos()\n', ['cos']],
  ];
  for (const [what, text, expected] of TEXTS) {
    it(`as the tree has them: ${what}`, () => assert.deepEqual(checked(text), expected));
  }

  it('as the tree has them: the sample workspace', () => {
    for (const [name, text] of WORKSPACE_FILES.filter(([file]) => file.endsWith('.py'))) {
      assert.ok(checked(text).length > 0 || !/def forward/.test(text), name);
    }
  });

  it('as the tree has them: the standard library of the Python at hand', function () {
    let folder: string;
    try {
      folder = execFileSync('python3', ['-c', 'import sysconfig; print(sysconfig.get_paths()["stdlib"])'], { encoding: 'utf8' }).trim();
    } catch {
      this.skip();
    }
    const files = readdirSync(folder).filter((name) => name.endsWith('.py')).map((name) => path.join(folder, name)).filter((file) => statSync(file).size < 60_000).slice(0, 120);
    assert.ok(files.length > 50);
    for (const file of files) {
      const text = readFileSync(file, 'utf8');
      const { body, errors } = parsePython(parser, text);
      if (errors.length === 0) {
        assert.deepEqual(written(spelledOperators(text)), written(ofTree(body)), file);
      }
    }
  });

  it('as the tree has them: whatever the grammar allows', () => {
    const word = fc.constantFrom('x', 'self.w', 'eps', 'q_proj', 'torch.exp');
    const { expression } = fc.letrec<{ expression: string }>((tie) => {
      const part = tie('expression');
      const list = fc.array(part, { maxLength: 3 }).map((parts) => parts.join(', '));
      return {
        expression: fc.oneof({ maxDepth: 5 },
          word, fc.constantFrom('1', '2.5e-3', '0x1F', '"s"', 'None', '...', '()', '[]', '{}', 'f"{x.exp()}"', "'''a\nb'''"),
          fc.tuple(part, fc.constantFrom('+', '-', '*', '/', '//', '%', '@', '**', '<<', '|', '<', '==', ' in ', ' not in ', ' is not ', ' and ', ' or '), part).map(([a, sign, b]) => `(${a})${sign}(${b})`),
          fc.tuple(word, fc.constantFrom(' + ', ' * ', ' ** ', ' - ', ' and ', ' @ '), word, fc.constantFrom(' - ', ' / ', ' ** ', ' < '), word).map((parts) => `(${parts.join('')})`),
          fc.tuple(fc.constantFrom('-', '~', 'not ', '+', '- -'), part).map(([sign, a]) => `(${sign}(${a}))`),
          fc.tuple(part, fc.constantFrom('exp', 'mean', 'act', 'fc1', 'unknown'), list).map(([a, name, args]) => `(${a}).${name}(${args})`),
          fc.tuple(part, part, part).map(([a, b, c]) => `(${a} if ${b} else ${c})`),
          fc.tuple(part, part).map(([a, b]) => `(${a})[${b}:, ${b}]`),
          fc.tuple(part, part).map(([a, b]) => `[${a} for v in (${b}) if v]`),
          fc.tuple(part, part).map(([a, b]) => `{${a}: ${b}}`),
          fc.tuple(list, part).map(([a, b]) => `(${a === '' ? '' : `${a}, `}*(${b}),)`),
          fc.tuple(list, part).map(([a, b]) => `f(${a === '' ? '' : `${a}, `}key=${b})(${b})`),
          part.map((a) => `(lambda v, w=1: ${a})`), part.map((a) => `(v := ${a})`), fc.tuple(part, part).map(([a, b]) => `(\n${a},\n# (\n${b}\n)`)),
      };
    });
    fc.assert(fc.property(fc.array(expression, { minLength: 1, maxLength: 3 }), fc.constantFrom('return ', 'y = z = ', 'y += ', 'y[x.exp()]: T = ', 'await ', 'for v in '), (parts, head) => {
      const line = head.startsWith('for') ? `for v in ${parts[0]}:\n        w = ${parts[parts.length - 1]}` : parts.map((part) => `${head}${part}`).join('; ');
      checked(`async def f(x):\n    ${line}\n`);
    }), { seed: Date.now() % 2 ** 31, numRuns: 1500 });
  });

  it('come to an end on any text, and find the functions after what is no Python', () => {
    fc.assert(fc.property(fc.array(fc.constantFrom('def f(x):', 'class A:', '\n', '\n    ', '(', ')', '[', '{', '}', '"', "'''", 'f"{', '#', '\\', 'lambda', ':', '=', 'if', 'else', 'for', 'x', '.', '@', '**', '\t', '\r', '🚀', '1.', 'return', 'async', ';', ',', 'yield', 'match', 'case')), (parts) => {
      const found = spelledOperators(`${parts.join(' ')}\n`);
      assert.ok(Array.isArray(found));
    }), { seed: Date.now() % 2 ** 31, numRuns: 3000 });
    assert.deepEqual(written(spelledOperators('def f(x):\n    return g(x.exp(), [x.cos()\n\ndef g(x):\n    return x.sin()\n')), ['exp cos', 'sin']);
    assert.deepEqual(written(spelledOperators(`def f(x):\n    return ${'('.repeat(5000)}x${')'.repeat(5000)}\ndef g(x):\n    return x.sin()\n`)), ['sin']);
    assert.deepEqual(written(spelledOperators(`def f(x):\n    return ${'-'.repeat(50000)}x\ndef g(x):\n    return x.sin()\n`)).slice(-1), ['sin']);
  });
});
