import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { Database } from 'node-sqlite3-wasm';
import { DeviceFlag, EventKind, HostKind, type RankData } from '../../../src/engine/profile/columns';
import { ProblemList, UnreadableInput } from '../../../src/engine/profile/problems';
import { readNsys } from '../../../src/engine/readers/nsys';
import { findSqliteFile, rankOfName, sniffSqlite } from '../../../src/engine/readers/sqliteDetect';
import { nodeFilePort } from '../../../src/node/filePort';
import { hasSharedData, sharedPath } from '../../sharedData';

const port = nodeFilePort();

async function read(file: string): Promise<{ rank: RankData; problems: ProblemList }> {
  const problems = new ProblemList();
  return { rank: await readNsys({ port, problems }, { path: file }), problems };
}

const names = ({ strings }: RankData, column: ArrayLike<number>): readonly string[] => Array.from(column, (id) => strings.get(id));

/** The device table's launches and ranges by name. */
function links({ deviceEvents: d, hostEvents: h, strings }: RankData): readonly (readonly [string | undefined, string | undefined])[] {
  const name = (row: number): string | undefined => (row < 0 ? undefined : strings.get(h.name[row]));
  return Array.from(d.launch, (launch, row) => [name(launch), name(d.op[row])] as const);
}

describe('Nsight Systems export', () => {
  let folder: string;
  before(() => {
    folder = mkdtempSync(path.join(tmpdir(), 'fuselens-nsys-'));
  });
  after(() => rmSync(folder, { recursive: true, force: true }));

  const make = (name: string, sql: string): string => {
    const file = path.join(folder, name);
    const database = new Database(file);
    database.exec(sql);
    database.close();
    return file;
  };
  const TABLES = `CREATE TABLE StringIds (id INTEGER PRIMARY KEY, value TEXT NOT NULL);
    INSERT INTO StringIds VALUES (1, 'gemm<float>(int)'), (2, 'ncclDevKernel_AllReduce'), (3, 'cudaLaunchKernel_v7000'), (4, 'cudaGraphLaunch_v10000'), (5, 'aten::mm, seq = 7, op_id = 3, sizes = [[4, 16], [16, 16]]'), (6, 'main'), (7, 'launch');
    CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start INTEGER, end INTEGER, deviceId INTEGER, streamId INTEGER, correlationId INTEGER, globalPid INTEGER, demangledName INTEGER);
    CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME (start INTEGER, end INTEGER, globalTid INTEGER, correlationId INTEGER, nameId INTEGER, callchainId INTEGER);
    CREATE TABLE NVTX_EVENTS (start INTEGER, end INTEGER, eventType INTEGER, globalTid INTEGER, text TEXT, textId INTEGER);`;
  /** Process 5 and 6, thread 9, as Nsight packs them, with its machine id on top. */
  const PID5 = (2n << 56n) + (5n << 24n);
  const PID6 = (2n << 56n) + (6n << 24n);

  it('equals truth.json', async function () {
    if (!hasSharedData()) {
      console.log('    needs ../shared/data: skipped');
      this.skip();
    }
    const base = sharedPath('kineto', 'nsys-saxpy-mpi');
    const file = path.join(base, 'saxpy-mpi-cuda_nsys_perlmutter0.sqlite');
    const truth = (JSON.parse(readFileSync(path.join(base, 'truth.json'), 'utf8')) as Readonly<Record<string, Readonly<Record<string, number>> & { readonly per_stream: Readonly<Record<string, Readonly<Record<string, number>>>>; readonly split_count: Readonly<Record<string, number>>; readonly top10_kernels: readonly { readonly name: string; readonly count: number; readonly total_us: number }[] }>>)[path.basename(file)];
    const { rank, problems } = await read(file);
    const { deviceEvents: d, hostEvents: h } = rank;
    const rows = Array.from({ length: d.count }, (_, i) => i);
    const kernels = rows.filter((row) => d.kind[row] <= EventKind.Communication);
    const of = (kind: number): number => rows.filter((row) => d.kind[row] === kind).length;
    assert.equal(kernels.length, truth['kernels']);
    assert.deepEqual([of(0), of(1), of(2), of(3)], [truth.split_count['compute'], truth.split_count['comm'], truth.split_count['memcpy'], truth.split_count['memset']]);
    assert.equal(kernels.reduce((sum, row) => sum + d.durationNs[row], 0), Math.round(truth['kernel_total_us'] * 1000));
    const stream = truth.per_stream['device 0 stream 7'];
    assert.deepEqual(rank.streams.map(({ device, stream: id }) => [device, id]), [[0, '7']]);
    assert.equal(d.startNs[kernels[0]], Math.round(stream['first_us'] * 1000));
    assert.equal(d.startNs[kernels[4]] + d.durationNs[kernels[4]], Math.round(stream['last_us'] * 1000));
    assert.deepEqual([...new Set(kernels.map((row) => rank.strings.get(d.name[row])))], truth.top10_kernels.map(({ name }) => name));
    assert.equal(kernels.filter((row) => d.launch[row] >= 0).length, truth['kernels_with_runtime_launch']);
    assert.equal(h.kind.filter((kind) => kind === HostKind.Runtime).length, truth['runtime_calls']);
    assert.equal(rank.baseNs, 1687813257637297504n);
    assert.equal(rank.rank, 0, 'from the thread that MPI named');
    assert.equal(rank.facts['nsys'], '2022.2.1.31');
    assert.deepEqual(problems.toArray(), []);
  });

  it('links by process and correlation, and to the innermost range round the launch', async () => {
    const { rank } = await read(make('links.sqlite', `${TABLES}
      INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (100, 150, 0, 7, 1, ${PID5}, 1), (160, 170, 0, 7, 1, ${PID6}, 2), (180, 190, 0, 8, NULL, ${PID5}, 1), (200, 230, 0, 7, 2, ${PID5}, 1), (230, 260, 0, 7, 2, ${PID5}, 1);
      INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES (50, 60, ${PID5 + 9n}, 1, 3, 0), (70, 80, ${PID6 + 9n}, 1, 3, NULL), (90, 95, ${PID5 + 9n}, 2, 4, NULL);
      INSERT INTO NVTX_EVENTS VALUES (10, 500, 59, ${PID5 + 9n}, 'iteration 12', NULL), (40, 65, 59, ${PID5 + 9n}, NULL, 5), (45, 100, 60, ${PID6 + 8n}, 'another thread', NULL), (44, NULL, 34, ${PID5 + 9n}, 'a mark', NULL);
      CREATE TABLE CUDA_CALLCHAINS (id INTEGER, symbol INTEGER, stackDepth INTEGER); INSERT INTO CUDA_CALLCHAINS VALUES (0, 6, 1), (0, 7, 0);`));
    const { deviceEvents: d, hostEvents: h } = rank;
    assert.deepEqual(names(rank, d.name), ['gemm<float>(int)', 'ncclDevKernel_AllReduce', 'gemm<float>(int)', 'gemm<float>(int)', 'gemm<float>(int)']);
    assert.deepEqual([...d.kind], [0, 1, 0, 0, 0]);
    assert.deepEqual(links(rank), [
      ['cudaLaunchKernel', 'aten::mm'], ['cudaLaunchKernel', undefined], [undefined, undefined], ['cudaGraphLaunch', 'iteration 12'], ['cudaGraphLaunch', 'iteration 12'],
    ]);
    const operator = names(rank, h.name).indexOf('aten::mm');
    assert.deepEqual([h.kind[operator], h.sequence[operator]], [HostKind.Operator, 7]);
    assert.equal(rank.strings.get(h.stack[d.launch[0]]), 'launch;main');
    assert.deepEqual(rank.steps.map(({ name, number, source }) => [name, number, source]), [['iteration 12', 12, 'profiler']]);
    assert.deepEqual([...d.step], [0, 0, -1, 0, 0], 'launched in the step, on any thread; without a launch in none');
  });

  it('shows graphs that were recorded as a whole, and copies and sets by their kind', async () => {
    const { rank, problems } = await read(make('graphs.sqlite', `${TABLES}
      CREATE TABLE CUPTI_ACTIVITY_KIND_GRAPH_TRACE (start INTEGER, end INTEGER, deviceId INTEGER, graphId INTEGER, streamId INTEGER, correlationId INTEGER, globalPid INTEGER);
      INSERT INTO CUPTI_ACTIVITY_KIND_GRAPH_TRACE VALUES (10, 30, 1, 4, 7, 1, ${PID5});
      CREATE TABLE CUPTI_ACTIVITY_KIND_MEMCPY (start INTEGER, end INTEGER, deviceId INTEGER, streamId INTEGER, correlationId INTEGER, copyKind INTEGER);
      INSERT INTO CUPTI_ACTIVITY_KIND_MEMCPY VALUES (40, 50, 1, 7, 2, 1), (60, 55, 1, 7, 3, 99);
      CREATE TABLE CUPTI_ACTIVITY_KIND_MEMSET (start INTEGER, end INTEGER, deviceId INTEGER, streamId INTEGER, correlationId INTEGER);
      INSERT INTO CUPTI_ACTIVITY_KIND_MEMSET VALUES (70, 71, 1, 7, 4);`));
    const { deviceEvents: d } = rank;
    assert.deepEqual(names(rank, d.name), ['CUDA graph 4', 'Memcpy HtoD', 'Memcpy', 'Memset']);
    assert.deepEqual([...d.kind], [EventKind.Compute, EventKind.Copy, EventKind.Copy, EventKind.Set]);
    assert.equal(d.flags[0], DeviceFlag.GraphReplay);
    assert.deepEqual([...d.durationNs], [20, 10, NaN, 1]);
    assert.deepEqual([rank.device, rank.rank], ['1', undefined]);
    assert.ok(problems.toArray().some(({ kind, count }) => kind === 'nsys-whole-graphs' && count === 1));
  });

  it('is told apart from other databases by its tables', async () => {
    const kind = async (name: string, sql: string): Promise<string> => sniffSqlite(port, make(name, sql));
    assert.equal(await kind('a.db', TABLES), 'nsys-sqlite');
    assert.equal(await kind('b.db', 'CREATE TABLE STRING_IDS (id); CREATE TABLE PYTORCH_API (id); CREATE TABLE TASK (id)'), 'ascend-db');
    assert.equal(await kind('c.db', 'CREATE TABLE STRING_IDS (id); CREATE TABLE TASK (id)'), 'msprof-db');
    assert.equal(await kind('d.db', 'CREATE TABLE StepTraceTime (step)'), 'ascend-analysis');
    assert.equal(await kind('e.db', 'CREATE TABLE ClusterStepTraceTime (step)'), 'ascend-cluster');
    assert.equal(await kind('f.db', 'CREATE TABLE bookmarks (url)'), 'unknown');
  });

  it('refuses what it cannot read, with what to do', async () => {
    const refuse = async (file: string): Promise<UnreadableInput['detail']> => {
      const error: unknown = await findSqliteFile({ port, root: file, path: file, problems: new ProblemList() }).then(() => undefined, (reason: unknown) => reason);
      assert.ok(error instanceof UnreadableInput, String(error));
      return error.detail;
    };
    const report = path.join(folder, 'my report.nsys-rep');
    writeFileSync(report, 'QDSTRM');
    assert.deepEqual(await refuse(report), { code: 'error.nsys-not-exported', args: { file: 'my report.nsys-rep', command: `nsys export --type sqlite "${report}"` } });
    assert.equal((await refuse(path.join(folder, 'd.db'))).code, 'error.sqlite-only-summaries');
    assert.equal((await refuse(path.join(folder, 'f.db'))).code, 'error.sqlite-not-a-profile');
  });

  it('takes a rank from names that say it, and from no others', () => {
    assert.deepEqual(['ascend_pytorch_profiler_3.db', 'ascend_pytorch_profiler.db', 'report_rank12.sqlite', 'rank-0.sqlite', 'run4.sqlite', 'perlmutter0.sqlite'].map(rankOfName), [3, undefined, 12, 0, undefined, undefined]);
  });
});
