import '../shared/view.css';
import './overview.css';
import { Bridge } from '../shared/bridge';
import { showOwnErrors } from '../shared/pages';
import { installTooltips } from '../shared/tooltip';
import { OverviewView } from './overviewView';

installTooltips();
const root = document.createElement('main');
document.body.append(root);
showOwnErrors(root);
new OverviewView(root, new Bridge()).start();
