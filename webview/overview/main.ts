import '../shared/view.css';
import './overview.css';
import { Bridge } from '../shared/bridge';
import { installTooltips } from '../shared/tooltip';
import { OverviewView } from './overviewView';

installTooltips();
const root = document.createElement('main');
document.body.append(root);
new OverviewView(root, new Bridge()).start();
