import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { gzipSync, strToU8, zipSync } from 'fflate';
import { packTar } from 'modern-tar';
import { detectProfile } from '../../../src/engine/detect';
import { ProblemList, UnreadableInput } from '../../../src/engine/profile/problems';
import { containerOf, headOf, listMembers, openBytes } from '../../../src/engine/readers/archive';
import { findKinetoFile } from '../../../src/engine/readers/kinetoDetect';
import { readKinetoTrace } from '../../../src/engine/readers/kineto';
import { classifyForeign, rankOfName, sniffTrace, traceLabel, traceRank } from '../../../src/engine/readers/traceDetect';
import { decodeDetail } from '../../../src/engine/readers/traceDetail';
import { nodeFilePort } from '../../../src/node/filePort';
import type { RankData } from '../../../src/engine/profile/columns';
import { MESSAGES, renderProblem } from '../../../src/protocol/text';

const port = nodeFilePort();
const encode = (text: string): Uint8Array => new TextEncoder().encode(text);

/** A trace of `n` kernels with their launches; the third kernel has a long note. */
function traceText(n: number, rank?: number): string {
  const events = Array.from({ length: n }, (_, i) => [
    { ph: 'X', cat: 'cuda_runtime', name: 'cudaLaunchKernel', pid: 1, tid: 2, ts: 100 + i, dur: 1, args: { correlation: i + 1 } },
    { ph: 'X', cat: 'kernel', name: 'k', pid: 0, tid: 7, ts: 200 + i, dur: 1, args: { correlation: i + 1, index: i, note: i === 2 ? 'x'.repeat(100_000) : 'ä' } },
  ]).flat();
  return JSON.stringify({ ...(rank === undefined ? {} : { distributedInfo: { rank } }), traceEvents: events });
}

describe('Containers of traces', () => {
  let folder: string;
  const write = (name: string, bytes: Uint8Array | string): string => {
    const file = path.join(folder, name);
    writeFileSync(file, bytes);
    return file;
  };
  before(() => {
    folder = mkdtempSync(path.join(tmpdir(), 'fuselens-archive-'));
  });
  after(() => rmSync(folder, { recursive: true }));

  async function find(file: string): Promise<Awaited<ReturnType<typeof findKinetoFile>>['sources']> {
    return (await findKinetoFile({ port, root: path.dirname(file), path: file, head: await port.read(file, 0, 65_536), problems: new ProblemList() })).sources;
  }

  async function detailOf(rank: RankData, index: number): Promise<Record<string, unknown> | undefined> {
    return decodeDetail(port, rank, 'device', index);
  }

  it('shows line breaks in names of files and folders, and opens them all the same', async () => {
    const file = path.join(folder, 'odd', 'run\n1', 'a\nb.json');
    try {
      mkdirSync(path.dirname(file), { recursive: true });
      writeFileSync(file, traceText(3));
      writeFileSync(path.join(path.dirname(file), 'c\n.json'), '[]');
    } catch {
      return; // not every file system takes such names
    }
    const { sources, problems } = await detectProfile(port, path.join(folder, 'odd'));
    assert.deepEqual(sources.map(({ label, group }) => [label, group]), [['a\\nb', 'run\\n1']]);
    assert.equal((await sources[0].read?.({ port, problems: new ProblemList() }))?.deviceEvents.count, 3);
    const said = problems.map((problem) => renderProblem(problem).message);
    assert.ok(said.length > 0 && said.every((sentence) => !sentence.includes('\n')), said.join());
  });

  it('takes the last of two members of one name in a tar, too, plain or compressed', async () => {
    const member = (name: string, n: number): { readonly header: { readonly name: string; readonly size: number }; readonly body: Uint8Array } => {
      const body = encode(traceText(n));
      return { header: { name, size: body.length }, body };
    };
    const packed = await packTar([member('a.json', 3), member('b.json', 4), member('a.json', 5), member('./c.json', 1)]);
    for (const file of [write('twice.tar', packed), write('twice.tar.gz', gzipSync(packed))]) {
      const sources = await find(file);
      assert.deepEqual(sources.map(({ label }) => label).length, 3);
      const counts: number[] = [];
      for (const source of sources) {
        const data = await source.read?.({ port, problems: new ProblemList() });
        assert.ok(data !== undefined);
        counts.push(data.deviceEvents.count);
      }
      assert.deepEqual(counts.sort(), [1, 4, 5]);
      // A port that has not listed the archive finds the same member.
      const fresh = openBytes(nodeFilePort(), file, 'a.json', await containerOf(port, file));
      assert.equal(Buffer.from(await headOf(fresh, 1 << 20)).toString(), traceText(5));
    }
  });

  it('says that a tar is damaged, and keeps the members it can still tell', async () => {
    const files = [3, 4, 5].map((n) => ({ name: `${n}.json`, body: encode(traceText(n)) }));
    const packed = await packTar(files.map(({ name, body }) => ({ header: { name, size: body.length }, body })));
    const broken = (...headers: readonly string[]): Uint8Array => {
      const copy = Buffer.from(packed);
      for (const name of headers) {
        copy[copy.indexOf(name) + 100] ^= 0xff;
      }
      return copy;
    };
    await assert.rejects(find(write('damaged.tar', broken('3.json', '4.json', '5.json'))), (error) => error instanceof UnreadableInput && error.detail.code === 'error.tar-damaged');
    await assert.rejects(find(write('damaged.tgz', gzipSync(broken('3.json', '4.json', '5.json')))), (error) => error instanceof UnreadableInput && error.detail.code === 'error.tar-damaged');
    const file = write('partly.tar', broken('4.json'));
    const problems = new ProblemList();
    const { sources } = await findKinetoFile({ port, root: folder, path: file, head: await port.read(file, 0, 65_536), problems });
    assert.equal(sources.length, 2);
    assert.deepEqual(problems.toArray().map(({ kind, count }) => [kind, count]), [['archive-damaged', 1]]);
    const whole = new ProblemList();
    const good = write('whole.tar', packed);
    assert.equal((await findKinetoFile({ port, root: folder, path: good, head: await port.read(good, 0, 65_536), problems: whole })).sources.length, 3);
    assert.deepEqual(whole.toArray(), []);
  });

  it('takes the last of two members of one name, as unpacking tools do', async () => {
    const packed = Buffer.from(zipSync({ 'a.json': encode(traceText(3)), 'b.json': encode(traceText(5)) }, { level: 0 }));
    for (let at = packed.indexOf('b.json'); at >= 0; at = packed.indexOf('b.json')) {
      packed.write('a.json', at);
    }
    const file = write('twice.zip', packed);
    const sources = await find(file);
    assert.equal(sources.length, 1);
    const problems = new ProblemList();
    assert.equal((await sources[0].read?.({ port, problems }))?.deviceEvents.count, 5);
  });

  it('refuses a zip whose table of contents is damaged half-way, instead of losing the rest', async () => {
    const good = Buffer.from(zipSync({ 'a.json': encode(traceText(3)), 'b.json': encode(traceText(3)) }));
    const first = good.indexOf(Buffer.from('PK\x01\x02', 'latin1'));
    const shifted = Buffer.from(good);
    shifted.writeUInt16LE(9, first + 30);
    const wide = Buffer.from(good);
    const last = wide.lastIndexOf(Buffer.from('PK\x01\x02', 'latin1'));
    // A zip64 field that claims more bytes than the table has left.
    wide.writeUInt32LE(0xffffffff, last + 24);
    wide.writeUInt16LE(6, last + 28);
    wide.writeUInt16LE(4, last + 30);
    const end = wide.subarray(wide.length - 22);
    const cut = Buffer.concat([wide.subarray(0, last + 52), Buffer.from([1, 0, 24, 0]), end]);
    cut.writeUInt32LE(last + 56 - first, cut.length - 10);
    for (const [name, bytes] of [['shifted.zip', shifted], ['wide.zip', cut]] as const) {
      const file = write(name, bytes);
      await find(file).catch((error: unknown) => assert.ok(error instanceof UnreadableInput, String(error)));
    }
    await assert.rejects(find(path.join(folder, 'shifted.zip')), (error: unknown) => error instanceof UnreadableInput && error.detail.code === 'error.zip-cut');
  });

  it('names the members of a zip that look like traces and are none', async () => {
    const file = write('mixed.zip', zipSync({ 'good.json': encode(traceText(2)), 'empty-list.json': encode('{"traceEvents": []}') }));
    const problems = new ProblemList();
    const { sources } = await findKinetoFile({ port, root: folder, path: file, head: await port.read(file, 0, 65_536), problems });
    assert.equal(sources.length, 1);
    assert.deepEqual(problems.toArray().map(({ kind, where, args }) => [kind, where, args?.reason]), [['file-passed-over', 'mixed.zip › empty-list.json', 'error.trace-no-events']]);
  });

  it('says of damaged gzip and of UTF-16 what they are', async () => {
    const code = async (name: string, bytes: Uint8Array): Promise<string> => {
      const file = write(name, bytes);
      return find(file).then(() => 'opened', (error: unknown) => (error instanceof UnreadableInput ? error.detail.code : String(error)));
    };
    assert.equal(await code('head.json.gz', gzipSync(encode(traceText(3))).subarray(0, 12)), 'error.gzip-damaged');
    assert.equal(await code('le.json', Buffer.from(`\ufeff${traceText(2)}`, 'utf16le')), 'error.foreign-utf16');
    assert.equal(await code('bare.json', Buffer.from(traceText(2), 'utf16le')), 'error.foreign-utf16');
    assert.equal(await code('be.json', Buffer.from(`\ufeff${traceText(2)}`, 'utf16le').swap16()), 'error.foreign-utf16');
  });

  const forms: Readonly<Record<string, (text: string) => Uint8Array | Promise<Uint8Array>>> = {
    'plain.json': text => encode(text),
    'saved-as.bin': text => encode(text),
    'one.json.gz': text => gzipSync(encode(text)),
    'two-members.gz': text => Buffer.concat([gzipSync(encode(text.slice(0, 500))), gzipSync(encode(text.slice(500)))]),
    'deflated.zip': text => zipSync({ 'run/trace.json': encode(text) }),
    'stored.zip': text => zipSync({ 'trace.json': [encode(text), { level: 0 }] }),
    'gz-in.zip': text => zipSync({ 'trace.json.gz': [gzipSync(encode(text)), { level: 0 }] }),
    'plain.tar': text => packTar([{ header: { name: 'a/trace.json', size: encode(text).length, type: 'file' }, body: encode(text) }]),
    'packed.tgz': async text => gzipSync(await packTar([{ header: { name: 'trace.json', size: encode(text).length, type: 'file' }, body: encode(text) }])),
    'gz-in.tar': text => {
      const inner = gzipSync(encode(text));
      return packTar([{ header: { name: 'trace.json.gz', size: inner.length, type: 'file' }, body: inner }]);
    },
  };
  for (const [name, make] of Object.entries(forms)) {
    it(`${name}: opens, by content, and leads to the arguments of each event`, async () => {
      const file = write(name, await make(traceText(5, 3)));
      const sources = await find(file);
      assert.deepEqual(sources.map(source => source.rank), [3]);
      const rank = await sources[0].read?.({ port, problems: new ProblemList(), chunkSize: 777 });
      assert.ok(rank !== undefined);
      assert.equal(rank.deviceEvents.count, 5);
      assert.ok(rank.deviceEvents.launch.every(launch => launch >= 0));
      assert.deepEqual(await detailOf(rank, 4), { correlation: 5, index: 4, note: 'ä' });
      const long = await detailOf(rank, 2);
      assert.equal((long?.['note'] as string).length, 100_000);
      assert.deepEqual(await decodeDetail(port, rank, 'host', 1), { correlation: 2 });
    });
  }

  it('several traces in one archive are several ranks; other files are passed over', async () => {
    const text = { 'r/rank0.json': traceText(2), 'r/rank1.json': traceText(3), 'README.md': 'hello', 'package.json': '{"name": "x"}', '__MACOSX/r/._rank0.json': traceText(2) };
    const zip = write('ranks.zip', zipSync(Object.fromEntries(Object.entries(text).map(([name, body]) => [name, strToU8(body)]))));
    const tar = write('ranks.tar.gz', gzipSync(await packTar(Object.entries(text).map(([name, body]) => ({ header: { name, size: encode(body).length, type: 'file' as const }, body: encode(body) })))));
    for (const file of [zip, tar]) {
      const sources = await find(file);
      assert.deepEqual(sources.map(source => [source.id, source.rank, source.group]), [[`${path.basename(file)}!r/rank0.json`, 0, 'r'], [`${path.basename(file)}!r/rank1.json`, 1, 'r']]);
      assert.equal((await sources[1].read?.({ port, problems: new ProblemList() }))?.deviceEvents.count, 3);
    }
  });

  it('archives without traces and damaged ones say so', async () => {
    for (const [name, bytes, code] of [
      ['none.zip', zipSync({ 'a.txt': strToU8('x') }), 'error.archive-without-traces'], ['cut.zip', zipSync({ 'trace.json': strToU8(traceText(50)) }).slice(0, 400), 'error.zip-cut'],
      ['none.tar', await packTar([{ header: { name: 'a.txt', size: 1, type: 'file' }, body: 'x' }]), 'error.archive-without-traces'],
      ['page.json.gz', gzipSync(strToU8('<!DOCTYPE html><html>')), 'error.foreign-html'],
    ] as const) {
      const file = write(name, bytes);
      await assert.rejects(find(file), (error: unknown) => error instanceof UnreadableInput && error.detail.code === code && code in MESSAGES, name);
    }
  });

  it('a cut gzip, zip member or tar gives what could be read, and says that it is cut', async () => {
    const text = traceText(2000);
    const gz = write('cut.json.gz', gzipSync(encode(text)));
    truncateSync(gz, Math.floor(readFileSync(gz).length / 2));
    const tar = write('cut.tar', await packTar([{ header: { name: 'trace.json', size: encode(text).length, type: 'file' }, body: encode(text) }]));
    truncateSync(tar, Math.floor(readFileSync(tar).length / 2));
    for (const file of [gz, tar]) {
      const problems = new ProblemList();
      const container = await containerOf(port, file);
      const member = (await listMembers(port, file, container))?.[0]?.name;
      const rank = await readKinetoTrace({ port, problems }, file, member === undefined ? {} : { member });
      assert.ok(rank.deviceEvents.count > 0 && rank.deviceEvents.count < 2000, file);
      assert.deepEqual(problems.toArray().map(problem => problem.kind), ['truncated'], file);
    }
  });

  it('progress goes up to the size of the file', async () => {
    const file = write('progress.json.gz', gzipSync(encode(traceText(2000))));
    const size = readFileSync(file).length;
    const seen: number[] = [];
    await readKinetoTrace({ port, problems: new ProblemList(), chunkSize: 1000, progress: ({ bytes, totalBytes }) => {
      assert.equal(totalBytes, size);
      seen.push(bytes);
    } }, file);
    assert.ok(seen.length > 3 && seen.every((bytes, i) => i === 0 || bytes > seen[i - 1]));
    assert.equal(seen[seen.length - 1], size);
  });
});

describe('What a file is', () => {
  it('ranks come from metadata, then from the name, and are never guessed', () => {
    for (const [name, rank] of [
      ['rank0.json.gz', 0], ['rank-34.Jul_15_10_52_41.1074.pt.trace.json.gz', 34], ['rank_3_trace.json', 3], ['trace_rank12.json', 12], ['mtia_inference_rank_0.json.gz', 0],
      ['1700-TP-1.trace.json.gz', 1], ['1700-TP-2-DP-0-EP-0.trace.json.gz', 2], ['1700-TP-0-DP-1.trace.json.gz', undefined],
      ['worker0.1623143566756.pt.trace.json', undefined], ['frank5.json', undefined], ['trace.json', undefined], ['rank1_of_rank8.json', undefined],
    ] as const) {
      assert.equal(rankOfName(name), rank, name);
    }
    assert.equal(traceRank('/runs/rank_7/trace.json', undefined), 7);
    assert.equal(traceRank('/runs/rank_7/rank2.json', undefined), 2);
    assert.equal(traceRank('/runs/rank_7/rank2.json', 5), 5);
    assert.equal(traceRank('/runs/frankfurt/trace.json', undefined), undefined);
    assert.equal(traceLabel('run_worker1.1700000000100.pt.trace.json'), 'worker1');
    assert.equal(traceLabel('resnet.pt.trace.json.gz'), 'resnet');
  });

  it('Kineto and Ascend traces are told apart', async () => {
    const ascend = '[{"ph":"X","name":"a","pid":1,"tid":1,"ts":"1736405443881410.320","dur":1.5}]';
    const named = '[{"ph":"M","name":"process_name","pid":900,"tid":0,"args":{"name":"Ascend Hardware"}},{"ph":"X","name":"a","ts":1}]';
    for (const [text, kind] of [[traceText(2), 'kineto'], [JSON.stringify((JSON.parse(traceText(2)) as { traceEvents: unknown }).traceEvents), 'kineto'], [ascend, 'ascend-trace'], [named, 'ascend-trace'], ['[1,2]', undefined], ['{}', undefined], ['[{"a":1}]', undefined]] as const) {
      assert.equal(await sniffTrace(encode(text)), kind, text.slice(0, 60));
    }
  });

  it('files of others get a sentence', () => {
    for (const [bytes, code] of [
      [encode(''), 'error.trace-empty-file'], [encode(' \n\t'), 'error.trace-blank'], [encode('\n<!DOCTYPE html>'), 'error.foreign-html'], [Uint8Array.of(0x80, 4, 0x95, 1), 'error.foreign-pickle'],
      [encode('{"segments": [], "device_traces": []}'), 'error.foreign-memory-snapshot'], [encode('[[0, 1], [2, 3]]'), 'error.foreign-memory-timeline'],
      [encode('{"schema": "1.1.0-chakra.0.0.4", "nodes": []}'), 'error.foreign-execution-trace'], [Uint8Array.of(0x0a, 0x30, 0x08, 0x01, 0x02), 'error.foreign-protobuf'],
      // XSpace { planes { id: 1 name: "/device:GPU:0" } } and one without an id; both have a name behind their length.
      [encode('\n\x30\x08\x01\x12\x0d/device:GPU:0'), 'error.foreign-xplane'], [encode('\n\x30\x12\x09/host:CPU'), 'error.foreign-xplane'],
      [encode('\n{\x40\x01\x50\x01'), 'error.foreign-protobuf'],
      // A Perfetto packet { timestamp, track_event } that speaks of a device somewhere is none.
      [encode('\n\x30\x40\x01\x50\x01\x5a\x10 /device:GPU:0'), 'error.foreign-protobuf'],
      [encode('<html>\n<head><meta charset="utf-8" /><title>GPU Memory Timeline HTML</title></head>'), 'error.foreign-memory-page'],
      [Uint8Array.of(0x7f, 0x45, 0x4c, 0x46, 2, 1, 1, 0), 'error.foreign-binary'], [encode('Step Id,Name\n1,2'), 'error.trace-not-json'],
      [encode('{"schemaVersion": 1'), undefined], [encode('\n[ {"ph"'), undefined], [encode('\ufeff{'), undefined],
    ] as const) {
      assert.equal(classifyForeign(bytes), code, String(code));
      assert.ok(code === undefined || code in MESSAGES);
    }
  });
});
