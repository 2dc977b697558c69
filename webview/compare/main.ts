import '../shared/view.css';
import '../shared/page.css';
import './compare.css';
import { showOwnErrors } from '../shared/pages';
import { installTooltips } from '../shared/tooltip';
import { CompareBridge } from './compareBridge';
import { CompareViewPage } from './compareView';

installTooltips();
const root = document.createElement('main');
document.body.append(root);
showOwnErrors(root);
new CompareViewPage(root, new CompareBridge()).start();
