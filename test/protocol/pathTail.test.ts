import assert from 'node:assert/strict';
import fc from 'fast-check';
import { commonTail, differingPrefixes, mappedPath, pathParts } from '../../src/protocol/pathTail';

describe('paths of another machine', () => {
  it('are compared from their ends, whatever system wrote them', () => {
    assert.equal(commonTail(pathParts('C:\\run\\pkg\\a.py'), pathParts('/home/me/./pkg/a.py')), 2);
    assert.equal(commonTail(pathParts('a.py'), pathParts('b.py')), 0);
  });

  it('give the prefixes that differ, so that the map brings the same file and its neighbours', () => {
    assert.deepEqual(differingPrefixes('/run/app/pkg/a.py', '/home/me/pkg/a.py'), ['/run/app', '/home/me']);
    assert.deepEqual(differingPrefixes('pkg/a.py', '/home/me/pkg/a.py'), ['pkg/a.py', '/home/me/pkg/a.py']);
    const part = fc.stringMatching(/^[a-z]{1,3}$/);
    fc.assert(fc.property(fc.array(part, { minLength: 1, maxLength: 4 }), fc.array(part, { minLength: 1, maxLength: 4 }), part, (left, right, name) => {
      const [recorded, file] = [`/${[...left, name].join('/')}`, `/${[...right, name].join('/')}`];
      const [from, to] = differingPrefixes(recorded, file);
      assert.equal(mappedPath(recorded, { [from]: to }), file);
    }), { verbose: 1 });
  });

  it('take the longest prefix of the map, at a border of parts', () => {
    const map = { '/run': '/a', '/run/app/': '/b/', 'D:\\work': '/c' };
    assert.equal(mappedPath('/run/app/x.py', map), '/b/x.py');
    assert.equal(mappedPath('/run/apple/x.py', map), '/a/apple/x.py');
    assert.equal(mappedPath('D:\\work\\m\\x.py', map), '/c/m/x.py');
    assert.equal(mappedPath('/other/x.py', map), undefined);
  });
});
