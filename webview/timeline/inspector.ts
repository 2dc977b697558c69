import type { EventLink, EventPlace } from '../../src/protocol/timeline';
import type { Bridge } from '../shared/bridge';
import { fillElement, h } from '../shared/dom';
import type { Words } from '../shared/words';
import { drawArea } from './areaPanel';
import { counterText, drawCounterDetails } from './counterDetails';
import { drawDetails } from './details';
import { formatExactNs, formatNs } from './format';
import { rowTop, zoneTop } from './geometry';
import type { Hit } from './hit';
import { laneName } from './laneLabels';
import { familyName } from './legend';
import type { MainCanvas } from './mainCanvas';
import type { TimelineModel } from './model';
import { Panel } from './panel';
import { SearchPanel } from './searchPanel';
import { Selection } from './selection';
import { drawTable, eventsOnScreen, type TableRow } from './tableTwin';
import type { WindowStore } from './windows';

export interface InspectorOptions {
  readonly bridge: Bridge;
  readonly words: Words;
  readonly rank: string;
  readonly model: TimelineModel;
  readonly windows: WindowStore;
  /** Asked late: the canvas is made after the panel. */
  readonly main: () => MainCanvas;
  readonly say: (text: string) => void;
  readonly fail: (error: unknown) => undefined;
}

const TABLE_MS = 300;

/** What is selected, searched, measured as an area or read as a table, and the panel that shows it. */
export class Inspector {
  readonly panel: Panel;
  readonly selection: Selection;
  private readonly search: SearchPanel;
  private areaRun = 0;
  private openWhenKnown = false;
  private tableTimer: ReturnType<typeof setTimeout> | undefined;

  constructor(element: HTMLElement, private readonly options: InspectorOptions) {
    const { bridge, words, rank, model, fail } = options;
    this.selection = new Selection(bridge, rank, model, () => this.selectionChanged());
    this.panel = new Panel(element, words, (tab) => {
      if (tab === 'table') {
        this.drawTable();
      }
      model.changed();
    });
    this.search = new SearchPanel(this.panel.bodies.search, words, {
      run: (params) => bridge.call('search', { rank, ...params }).catch(fail),
      found: (places) => {
        model.hits = places;
        model.changed();
      },
      goTo: (place) => this.goTo(place),
    });
    this.selectionChanged();
  }

  dispose(): void {
    clearTimeout(this.tableTimer);
  }

  /** `open`: go on to the source line once the event's frames are known. */
  async selectHit(hit: Hit | undefined, open = false): Promise<void> {
    const { model, bridge, rank } = this.options;
    this.openWhenKnown = open;
    if (hit === undefined) {
      this.selection.clear();
      return;
    }
    const { lane } = hit.row.box;
    model.focusLane = lane.id;
    const { event } = hit;
    if (event !== undefined) {
      this.panel.show('selection');
      await this.selection.select({ side: event.side, index: event.index, startNs: event.startNs, durationNs: event.durationNs, name: event.name ?? '', lane: lane.id, row: hit.row.row });
    } else if (hit.bin === undefined && hit.counter === undefined) {
      this.selection.clear();
    } else {
      const shown = this.panel.active;
      const place = await bridge.call('nearest', { rank, lane: lane.id, row: hit.row.row, timeNs: hit.counter?.startNs ?? hit.timeNs });
      // Whoever turned to another tab meanwhile (search, table) is not pulled back by a late answer.
      await this.selectPlace(place, this.panel.active === shown);
    }
  }

  async selectPlace(place: EventPlace | null, reveal = true): Promise<void> {
    if (place !== null) {
      if (reveal) {
        this.panel.show('selection');
      }
      await this.selection.select(place);
    }
  }

  /** Selects an event and scrolls it into sight. */
  goTo(place: EventPlace | EventLink): void {
    const show = (target: EventPlace): void => {
      this.options.model.uncover(target.lane);
      this.options.model.focusLane = target.lane;
      this.options.model.bringIntoView(target);
      this.scrollToLane(target.lane, target.row);
    };
    if ('lane' in place) {
      show(place);
      void this.selection.select(place);
    } else {
      void this.selection.selectRef(place).then((found) => found !== undefined && show(found));
    }
  }

  scrollToLane(lane: string, row: number): void {
    const { model } = this.options;
    const { geometry, height } = this.options.main();
    const at = rowTop(geometry, model.scrollTop, lane, row);
    const top = zoneTop(geometry);
    if (at !== undefined && !at.pinned && (at.y < top || at.y + at.height > height)) {
      model.scrollTop += at.y - (top + height) / 2;
      model.changed();
    }
  }

  openSource(): void {
    if (!this.selection.openSource() && this.selection.detail !== undefined) {
      this.options.say(this.options.words.t('timeline.noFrames'));
    }
  }

  openSearch(): void {
    this.panel.show('search');
    this.search.focus();
  }

  nextHit(direction: 1 | -1): void {
    this.search.step(direction);
  }

  toggleTable(): void {
    this.panel.show(this.panel.active === 'table' ? undefined : 'table');
  }

  /** The table follows the picture, a little behind it. */
  pictureChanged(): void {
    if (this.panel.active === 'table') {
      clearTimeout(this.tableTimer);
      this.tableTimer = setTimeout(() => this.drawTable(), TABLE_MS);
    }
  }

  /** Totals of the model's area. */
  async askArea(): Promise<void> {
    const { model, bridge, rank, words, fail, say } = this.options;
    const { area } = model;
    if (area === undefined) {
      return;
    }
    const run = ++this.areaRun;
    const stats = await bridge.call('areaStats', { rank, startNs: Math.round(area.from), endNs: Math.round(area.to), lanes: area.lanes }).catch(fail);
    if (stats !== undefined && run === this.areaRun) {
      drawArea(this.panel.bodies.area, words, model, stats, (lanes) => {
        model.area = { ...area, lanes };
        void this.askArea();
      });
      this.panel.show('area');
      say(words.t('timeline.area.say', { count: words.number(stats.events), union: formatNs(words, stats.unionNs), sum: formatNs(words, stats.sumNs) }));
    }
  }

  private selectionChanged(): void {
    const { detail, flow } = this.selection;
    const { words, bridge, model, say } = this.options;
    model.changed();
    if (detail === undefined) {
      fillElement(this.panel.bodies.selection, h('p', { class: 'muted' }, words.t('timeline.nothingSelected')));
      return;
    }
    const { originNs } = model.layout;
    const selected = model.lane(detail.lane);
    if (detail.side === 'counter') {
      drawCounterDetails(this.panel.bodies.selection, words, originNs, selected === undefined ? detail.name : laneName(words, selected), detail, (text) => bridge.post({ kind: 'copy', text }));
    } else {
      drawDetails(this.panel.bodies.selection, words, originNs, detail, flow, {
        goTo: (link) => this.goTo(link), openSource: (file, line) => bridge.post({ kind: 'openSource', file, line }), copy: (text) => bridge.post({ kind: 'copy', text }),
        zoomTo: (startNs, durationNs) => model.reveal(startNs, startNs + (durationNs > 0 ? durationNs : 0), 0.5),
      });
    }
    if (detail.side === 'counter') {
      say(words.t('timeline.sayCounter', { name: selected === undefined ? detail.name : laneName(words, selected), value: counterText(words, detail), start: formatExactNs(words, detail.startNs - originNs), duration: formatNs(words, detail.durationNs) }));
      return;
    }
    say(words.t('timeline.say', {
      name: detail.side === 'gap' ? words.t(`timeline.lane.${detail.kind}`) : detail.name, duration: formatNs(words, detail.durationNs), start: formatNs(words, detail.startNs - originNs),
      lane: selected === undefined ? detail.lane : laneName(words, selected), family: familyName(words, detail.family),
    }));
    if (this.openWhenKnown) {
      this.openWhenKnown = false;
      this.openSource();
    }
  }

  /** Rows of counters are columns of the picture, not values: the value is asked for by its time. */
  private async goToRow(row: TableRow): Promise<void> {
    const place = row.side === 'counter' ? await this.options.bridge.call('nearest', { rank: this.options.rank, lane: row.lane, timeNs: row.startNs }) : row;
    if (place !== null) {
      this.goTo(place);
    }
  }

  private drawTable(): void {
    const { model, windows, words, bridge } = this.options;
    const { geometry, height, counters } = this.options.main();
    drawTable(this.panel.bodies.table, words, model, eventsOnScreen(words, model, windows, counters, geometry, height), {
      goTo: (row) => void this.goToRow(row), save: (text) => bridge.post({ kind: 'saveText', name: 'timeline.csv', text }),
    });
  }
}
