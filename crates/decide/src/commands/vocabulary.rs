//! The words that commands are made of, in Chinese and English (a table).
//!
//! Start at [`words_at`]. Invariants: a word that denies, doubts or conditions is in no list, so a
//! sentence with one of them is never wholly known; a word is a filler only where taking it away
//! cannot change what would happen.

use std::collections::HashMap;
use std::sync::LazyLock;

use super::kinds::Kind::{self, *};
use super::words::{Words, spell};
use crate::understood::effects::{Level, Mode, Verb};
use crate::understood::{Condition, Measure};

/// What a known word does in a sentence.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Word {
    Verb(Verb),
    /// On, off, up, down standing apart from "turn".
    Particle(Verb),
    /// A verb that names its object, too: 扫地, "next song".
    VerbOf(Verb, Kind),
    /// "turn", "set", 调: says what it means only with a value or a particle.
    Turn,
    /// 调到: sets, and the value is where to.
    SetTo,
    /// 调暗到: as the verb says, and the value is where to.
    VerbTo(Verb),
    To,
    At,
    By,
    Kind(Kind, Count),
    All,
    /// 都, "every one of them": said behind what was named.
    Each,
    /// 其他的, "the other": all but what was said.
    Other,
    House,
    Outside,
    Measure(Measure),
    Colour(&'static str),
    OfColour,
    Kelvin(i64),
    Level(Level),
    Mode(Mode),
    Percent(f64),
    And,
    Except,
    /// 除了: what is left out comes first and ends here or at the next pause.
    ExceptFirst,
    ExceptEnd,
    /// 把: what is to be moved comes next.
    Take,
    /// 了
    Done,
    Polite,
    Filler,
    /// In, of: between a thing and its place.
    In,
    /// "On" before a place; anywhere else it is a particle.
    OnPlace,
    /// It asks yes or no.
    AskIs,
    /// 吗: asks, or makes a wish polite (可以开灯吗).
    AskMa,
    AskWhich,
    AskCount,
    AskWhat,
    AskMeasure(Measure),
    Any,
    State(Condition),
}

/// How many things a word for a kind means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Count {
    One,
    Many,
    /// Chinese does not say.
    Open,
}

type Known = HashMap<String, Vec<(Vec<String>, Word)>>;

static KNOWN: LazyLock<Known> = LazyLock::new(|| {
    let mut known = Known::new();
    for (list, word) in LISTS.iter() {
        for phrase in list.split('|') {
            let words = spell(phrase).words;
            if let Some(first) = words.first() {
                known.entry(first.clone()).or_default().push((words, word.clone()));
            }
        }
    }
    known
});

/// Every known word that starts here, with its length.
pub(super) fn words_at(words: &Words, at: usize) -> impl Iterator<Item = (usize, &'static Word)> {
    let starting = words.words.get(at).and_then(|first| KNOWN.get(first));
    let fits = starting
        .into_iter()
        .flatten()
        .filter(move |(pattern, _)| words.has_at(at, pattern) && words.whole(at, at + pattern.len()));
    fits.map(|(pattern, word)| (pattern.len(), word))
}

#[rustfmt::skip]
static LISTS: LazyLock<Vec<(&'static str, Word)>> = LazyLock::new(|| {
    use Word::*;
    vec![
    // Verbs
    ("turn on|switch on|power on|put on|switched on|turned on|enable|light up|power up|点亮|启用", Verb(self::Verb::On)),
    ("turn off|switch off|power off|shut off|switch out|turn out|put out|turned off|disable|kill|power down|熄灭|熄掉|灭掉|停用|禁用", Verb(self::Verb::Off)),
    ("打开|开启|开|打开一下|开一下|打开来", Verb(self::Verb::OnOrOpen)),
    ("关闭|关掉|关上|关|关一下|关好|关起来|关闭一下|关掉一下", Verb(self::Verb::OffOrClose)),
    ("on", Particle(self::Verb::On)),
    ("off|out", Particle(self::Verb::Off)),
    ("up", Particle(self::Verb::Up)),
    ("down", Particle(self::Verb::Down)),
    ("open|open up|拉开|敞开|推开|展开|extend", Verb(self::Verb::Open)),
    ("close|shut|close up|拉上|合上|拉好|拉拢|合拢|收起|收起来|收回|retract", Verb(self::Verb::Close)),
    ("lock|lock up|锁|锁上|锁好|上锁|反锁|锁住|锁起来|锁一下", Verb(self::Verb::Lock)),
    ("unlock|解锁|开锁|解开", Verb(self::Verb::Unlock)),
    ("toggle|切换|切换一下", Verb(self::Verb::Toggle)),
    ("stop|halt|stop playing|停止播放|停|停止|停下|停下来|停一下|停住", Verb(self::Verb::Stop)),
    ("pause|暂停|暂停一下|暂停播放", Verb(self::Verb::Pause)),
    ("play|resume|start playing|开始播放|unpause|continue|continue playing|resume playing|播放|继续播放|继续|恢复播放|接着放", Verb(self::Verb::Play)),
    ("next|skip|下一首|下一曲|切歌", Verb(self::Verb::Next)),
    ("next song|next track|skip song|skip track|skip this song|skip the song|skip this track|next one|下一首歌|换一首歌|换首歌|换一首", VerbOf(self::Verb::Next, Player)),
    ("previous|上一首|上一曲", Verb(self::Verb::Previous)),
    ("previous song|previous track|last song|上一首歌", VerbOf(self::Verb::Previous, Player)),
    ("pause the music|pause music|暂停音乐", VerbOf(self::Verb::Pause, Player)),
    ("stop the music|stop music|停止音乐|停止放歌", VerbOf(self::Verb::Stop, Player)),
    ("resume the music|continue the music|继续放歌", VerbOf(self::Verb::Play, Player)),
    ("mute|静音|调成静音|设为静音|调静音|设成静音", Verb(self::Verb::Mute)),
    ("unmute|取消静音|解除静音|关闭静音|恢复声音", Verb(self::Verb::Unmute)),
    ("turn up|crank up|increase|raise|roll up|lift|调高|调大|升高|升起|升起来|升上去|提高|高一点|高点|大一点|大点|高一些|大一些|增大|增加|加大|升|开大|开大一点|开大点|调高一点|调大一点", Verb(self::Verb::Up)),
    ("turn down|decrease|reduce|lower|roll down|调低|调小|降低|降下|降下来|放下|放下来|低一点|低点|小一点|小点|低一些|小一些|减小|减少|降|开小|开小一点|关小|关小一点|调低一点|调小一点", Verb(self::Verb::Down)),
    ("brighten|brighten up|brighter|调亮|亮一点|亮点|亮一些|调亮一点|调亮点|调亮些|变亮|更亮", Verb(self::Verb::Brighter)),
    ("dim|dimmer|darker|dim down|调暗|暗一点|暗点|暗一些|调暗一点|调暗点|调暗些|变暗|更暗", Verb(self::Verb::Dimmer)),
    ("warmer|hotter|热一点|暖一点|暖和一点|热点|暖和点|调热一点|调暖一点|热一些", Verb(self::Verb::Warmer)),
    ("cooler|colder|凉一点|冷一点|凉快一点|凉快点|冷点|凉点|调冷一点|调凉一点|冷一些", Verb(self::Verb::Cooler)),
    ("louder|大声点|大声一点|响一点", Verb(self::Verb::Louder)),
    ("quieter|softer|小声点|小声一点|轻一点", Verb(self::Verb::Quieter)),
    ("faster|speed up|快一点|快点|调快|调快一点", Verb(self::Verb::Faster)),
    ("slower|slow down|慢一点|慢点|调慢|调慢一点", Verb(self::Verb::Slower)),
    ("start|launch|begin|启动|开始|发动", Verb(self::Verb::Start)),
    ("start cleaning|start vacuuming|clean|vacuum|扫地|打扫|清扫|开始扫地|开始打扫|开始清扫|去扫地|开始工作|拖地|打扫卫生|开始打扫卫生|打扫房间", VerbOf(self::Verb::Start, Vacuum)),
    ("vacuum the floor|clean the floor|clean the floors|vacuum the house|扫扫地|扫一下地|打扫地面", VerbOf(self::Verb::Start, Vacuum)),
    ("stop cleaning|stop vacuuming|停止扫地|停止打扫|停止清扫", VerbOf(self::Verb::Stop, Vacuum)),
    ("mow the lawn|mow the grass|cut the grass|start mowing|mow|割草|开始割草|修剪草坪|去割草", VerbOf(self::Verb::Start, Mower)),
    ("dock|return to base|return to dock|return to the dock|go back to base|go to the dock|go home|home|back to base|back to its base|back to the dock|back to its dock|to its dock|to the dock|back home|充电|回座|回去|回家", Verb(self::Verb::Dock)),
    ("dock the vacuum|回充|回去充电|回基站|回到基站|去充电|回充电座|回去充电吧", VerbOf(self::Verb::Dock, Vacuum)),
    ("find|locate|寻找|找一下|找到", Verb(self::Verb::Find)),
    ("arm|arm away|set to away|布防|离家布防|外出布防|外出模式布防", VerbOf(self::Verb::ArmAway, Alarm)),
    ("arm home|arm stay|在家布防|留守布防", VerbOf(self::Verb::ArmHome, Alarm)),
    ("arm night|夜间布防|睡眠布防|晚间布防", VerbOf(self::Verb::ArmNight, Alarm)),
    ("arm vacation|度假布防", VerbOf(self::Verb::ArmVacation, Alarm)),
    ("in away mode|in away|away", Particle(self::Verb::ArmAway)),
    ("in home mode|in home|in stay mode", Particle(self::Verb::ArmHome)),
    ("in night mode|for the night|for night", Particle(self::Verb::ArmNight)),
    ("in vacation mode", Particle(self::Verb::ArmVacation)),
    ("disarm|撤防|解除布防|解除", VerbOf(self::Verb::Disarm, Alarm)),
    ("press|push|hit|ring|trigger|按|按下|按一下|触发|点一下", Verb(self::Verb::Press)),
    ("activate|run|execute|运行|执行|激活", Verb(self::Verb::Activate)),
    ("cancel|取消", Verb(self::Verb::Cancel)),
    // Setting
    ("turn|switch|set|put|make|make it|get|change|adjust|send|bring|tune|调|设|设置|设定|调整|调节|弄|变|改|换|切|让|使", Turn),
    ("set to|调到|调成|调为|设为|设置为|设置成|设置到|设成|设到|设定为|设定到|设定成|调整到|调整为|调节到|改成|改为|换成|换到|切换到|切换成|切换为|切到|切成|变成|变为|弄成", SetTo),
    ("拉到|升到|降到|升至|降至|调至|调高到|调低到|降低到|提高到|升高到|调大到|调小到|拉开到|放到", SetTo),
    ("调暗到|调暗至|暗到|dim to", VerbTo(self::Verb::Dimmer)),
    ("调亮到|调亮至|亮到|brighten to", VerbTo(self::Verb::Brighter)),
    ("打开到|开到|开启到|开至", VerbTo(self::Verb::OnOrOpen)),
    ("关到", VerbTo(self::Verb::Set)),
    ("to|into|到|至|成|为", To),
    ("at|在", At),
    ("by", By),
    // Kinds
    ("light|lamp", Kind(Light, Count::One)),
    ("lights|lamps|lighting", Kind(Light, Count::Many)),
    ("灯|灯光|电灯|灯具|照明|盏灯", Kind(Light, Count::Open)),
    ("curtain|drape", Kind(Curtain, Count::One)),
    ("curtains|drapes", Kind(Curtain, Count::Many)),
    ("窗帘|帘子|窗帘布", Kind(Curtain, Count::Open)),
    ("blind", Kind(Blind, Count::One)),
    ("blinds", Kind(Blind, Count::Many)),
    ("百叶窗|百叶帘|百叶", Kind(Blind, Count::Open)),
    ("shade", Kind(Shade, Count::One)),
    ("shades", Kind(Shade, Count::Many)),
    ("遮光帘|卷帘", Kind(Shade, Count::Open)),
    ("awning", Kind(Awning, Count::One)),
    ("awnings", Kind(Awning, Count::Many)),
    ("遮阳棚|遮阳篷|雨棚", Kind(Awning, Count::Open)),
    ("shutter", Kind(Shutter, Count::One)),
    ("shutters", Kind(Shutter, Count::Many)),
    ("卷帘|卷闸", Kind(Shutter, Count::Open)),
    ("window", Kind(Window, Count::One)),
    ("windows", Kind(Window, Count::Many)),
    ("窗户|窗|窗子", Kind(Window, Count::Open)),
    ("door", Kind(Door, Count::One)),
    ("doors", Kind(Door, Count::Many)),
    ("门|房门", Kind(Door, Count::Open)),
    ("garage door|garage", Kind(Garage, Count::One)),
    ("garage doors|garages", Kind(Garage, Count::Many)),
    ("车库门|车库", Kind(Garage, Count::Open)),
    ("gate", Kind(Gate, Count::One)),
    ("gates", Kind(Gate, Count::Many)),
    ("院门|大门|院子门", Kind(Gate, Count::Open)),
    ("lock|door lock", Kind(Lock, Count::One)),
    ("locks|door locks", Kind(Lock, Count::Many)),
    ("锁|门锁", Kind(Lock, Count::Open)),
    ("ac|a c|air con|aircon|air conditioner|air conditioning|air conditioning unit", Kind(Cooling, Count::One)),
    ("acs|air conditioners|air cons", Kind(Cooling, Count::Many)),
    ("空调|冷气|冷气机", Kind(Cooling, Count::Open)),
    ("heating|heater|heat|radiator", Kind(Heating, Count::One)),
    ("heaters|radiators", Kind(Heating, Count::Many)),
    ("暖气|地暖|采暖", Kind(Heating, Count::Open)),
    ("thermostat", Kind(Climate, Count::One)),
    ("thermostats", Kind(Climate, Count::Many)),
    ("温控|温控器|恒温器", Kind(Climate, Count::Open)),
    ("fan", Kind(Fan, Count::One)),
    ("fans", Kind(Fan, Count::Many)),
    ("风扇|电扇|电风扇|扇子", Kind(Fan, Count::Open)),
    ("air purifier|purifier", Kind(Purifier, Count::One)),
    ("air purifiers|purifiers", Kind(Purifier, Count::Many)),
    ("空气净化器|净化器", Kind(Purifier, Count::Open)),
    ("tv|television|telly", Kind(Television, Count::One)),
    ("tvs|televisions", Kind(Television, Count::Many)),
    ("电视|电视机", Kind(Television, Count::Open)),
    ("speaker", Kind(Speaker, Count::One)),
    ("speakers", Kind(Speaker, Count::Many)),
    ("音箱|音响|喇叭|扬声器", Kind(Speaker, Count::Open)),
    ("music|media player|player|song|track", Kind(Player, Count::One)),
    ("media players|players", Kind(Player, Count::Many)),
    ("音乐|播放器|歌|歌曲|媒体播放器", Kind(Player, Count::Open)),
    ("socket|outlet|plug", Kind(Outlet, Count::One)),
    ("sockets|outlets|plugs", Kind(Outlet, Count::Many)),
    ("插座|插头", Kind(Outlet, Count::Open)),
    ("switch", Kind(Switch, Count::One)),
    ("switches", Kind(Switch, Count::Many)),
    ("开关", Kind(Switch, Count::Open)),
    ("vacuum|vacuum cleaner|robot vacuum|robot|hoover|cleaner", Kind(Vacuum, Count::One)),
    ("vacuums|robot vacuums", Kind(Vacuum, Count::Many)),
    ("扫地机|扫地机器人|吸尘器|机器人", Kind(Vacuum, Count::Open)),
    ("mower|lawn mower|lawnmower", Kind(Mower, Count::One)),
    ("割草机|割草机器人", Kind(Mower, Count::Open)),
    ("humidifier", Kind(Humidifier, Count::One)),
    ("humidifiers", Kind(Humidifier, Count::Many)),
    ("加湿器", Kind(Humidifier, Count::Open)),
    ("water heater|boiler|hot water", Kind(WaterHeater, Count::One)),
    ("热水器", Kind(WaterHeater, Count::Open)),
    ("gas|燃气|煤气|天然气", Kind(Gas, Count::Open)),
    ("water valve|water supply|水阀|水闸", Kind(Water, Count::Open)),
    ("valve", Kind(Valve, Count::One)),
    ("valves", Kind(Valve, Count::Many)),
    ("阀门|阀", Kind(Valve, Count::Open)),
    ("siren", Kind(Siren, Count::One)),
    ("sirens", Kind(Siren, Count::Many)),
    ("警报器|警笛|报警器", Kind(Siren, Count::Open)),
    ("alarm|alarm system|security system|alarm panel", Kind(Alarm, Count::One)),
    ("alarms", Kind(Alarm, Count::Many)),
    ("安防|安防系统|报警系统|警戒|防盗", Kind(Alarm, Count::Open)),
    ("timer", Kind(Timer, Count::One)),
    ("timers", Kind(Timer, Count::Many)),
    ("计时器|定时器", Kind(Timer, Count::Open)),
    ("everything|all devices|all the devices|all appliances|all the appliances|devices", Kind(Everything, Count::Many)),
    ("所有设备|所有电器|全部设备|全部电器|一切|所有东西|所有的设备|所有的电器|电器|设备", Kind(Everything, Count::Open)),
    ("all|all of|every|each|all of the|所有|全部|所有的|全部的|各个|每个|每一个|每盏", All),
    ("全|都|全都|统统|全部|全部都", Each),
    ("other|others|rest of|remaining|其他|其它|其余|其他的|其它的|其余的|剩下的|别的", Other),
    ("whole house|entire house|house|the house|everywhere|in the house|at home|全屋|全家|家里|整个家|整个房子|屋里|家中|家里面", House),
    ("outside|outdoors|outdoor|室外|户外|外面|屋外", Outside),
    // Measures
    ("temperature|temp|温度|气温|室温", Measure(self::Measure::Temperature)),
    ("humidity|湿度", Measure(self::Measure::Humidity)),
    ("brightness|亮度", Measure(self::Measure::Brightness)),
    ("volume|sound|音量|声音", Measure(self::Measure::Volume)),
    ("speed|fan speed|风速|风量|转速|速度", Measure(self::Measure::Speed)),
    ("position|开度|位置", Measure(self::Measure::Position)),
    ("battery|battery level|电量|电池电量|电池", Measure(self::Measure::Battery)),
    ("power|power consumption|功率|耗电", Measure(self::Measure::Power)),
    ("co 2|carbon dioxide|二氧化碳|二氧化碳浓度", Measure(self::Measure::CarbonDioxide)),
    ("pm 2 point 5|air quality|空气质量|颗粒物", Measure(self::Measure::Particles)),
    // Colours
    ("red|红色|红|红光", Colour("red")),
    ("green|绿色|绿|绿光", Colour("green")),
    ("blue|蓝色|蓝|蓝光", Colour("blue")),
    ("yellow|黄色|黄光", Colour("yellow")),
    ("orange|橙色|橘色|橘黄色|橙黄色", Colour("orange")),
    ("purple|violet|紫色|紫|紫光", Colour("purple")),
    ("pink|粉色|粉红色|粉红", Colour("pink")),
    ("white|白色|白光", Colour("white")),
    ("cyan|turquoise|青色", Colour("cyan")),
    ("magenta|洋红|品红色|洋红色", Colour("magenta")),
    ("gold|金色", Colour("gold")),
    ("color|colour|颜色|色|color temperature|colour temperature|色温", OfColour),
    ("warm white|warm light|暖光|暖白|暖白光|暖黄|暖黄光|暖色|暖色调|黄光|暖白色|暖黄色", Kelvin(2700)),
    ("neutral white|natural white|自然光|自然白|中性光", Kelvin(4000)),
    ("cool white|cold white|cold light|daylight|冷光|冷白|冷白光|冷色|日光|冷白色|冷色调", Kelvin(6500)),
    ("maximum|max|highest|full|full brightness|maximum brightness|full volume|brightest|最大|最高|最亮|全亮|最大亮度|最高亮度|最大音量|最强|最快", Level(self::Level::Highest)),
    ("minimum|min|lowest|minimum brightness|dimmest|darkest|最小|最低|最暗|最小亮度|最低亮度|最弱|最慢", Level(self::Level::Lowest)),
    ("low|低速|低档|低|弱|低风|小风|低速档", Level(self::Level::Low)),
    ("medium|中速|中档|中等|中风|中速档", Level(self::Level::Medium)),
    ("high|高速|高档|高|强|高风|大风|强风|高速档", Level(self::Level::High)),
    ("half|halfway|half way|fifty fifty|一半|半", Percent(50.0)),
    ("a quarter|one quarter|quarter|四分之一", Percent(25.0)),
    ("three quarters|四分之三", Percent(75.0)),
    ("a third|one third|三分之一", Percent(33.0)),
    ("two thirds|三分之二", Percent(67.0)),
    ("cool|cooling|cool mode|cooling mode|制冷|制冷模式|冷风", Mode(self::Mode::Cool)),
    ("heat|heating|heat mode|heating mode|制热|制热模式|暖风|加热|加热模式", Mode(self::Mode::Heat)),
    ("dry|dry mode|除湿|除湿模式|抽湿", Mode(self::Mode::Dry)),
    ("fan only|fan mode|fan only mode|送风|送风模式|通风模式", Mode(self::Mode::Fan)),
    ("auto|automatic|auto mode|自动|自动模式", Mode(self::Mode::Auto)),
    ("heat cool|heat cool mode", Mode(self::Mode::HeatCool)),
    // Joining
    ("and|and then|then|also|and also|plus|as well as|after that|和|与|跟|及|以及|还有|并|并且|然后|接着|同时|而且|再|顺便|另外|然后再|最后", And),
    ("except|except for|but|but not|apart from|other than|excluding|besides", Except),
    ("除了|除|除去", ExceptFirst),
    ("以外|之外|外|以外的|之外的", ExceptEnd),
    ("把|将|给|帮我把|请把|请将|麻烦把", Take),
    ("了|好了|掉了", Done),
    // Manners
    ("please|kindly|could you|can you|would you|will you|could you please|can you please|would you please|would you mind|i want to|i want you to|i would like to|i would like you to|id like to|id like you to|i need you to|let us|lets|go ahead and|请|请你|请您|请帮我|帮我|帮忙|麻烦|麻烦你|麻烦您|帮|给我|帮我一下|可以|能|能不能|可不可以|可否|能否|能帮我|可以帮我|可以请你|我想|我要|我想要|我需要|想|要|需要|好吗|行吗|可以吗|好不好|行不行|好么|吧", Polite),
    ("the|a|an|my|our|some|me|for me|just|now|right now|immediately|thanks|thank you|请问|hey|hi|hello|ok|okay|well|so|mode|的|一下|一下子|啊|呀|哦|啦|嘛|哈|现在|马上|立刻|立即|赶紧|赶快|快|快点|谢谢|你|您|我|先|就|一点|一些|点儿|一点儿|里|里面|里头|中|内|那个|那边的|那里的|小爱同学|你好|嗨|喂|嘿|模式|给我|房间|房间里", Filler),
    ("on|on the", OnPlace),
    ("in|of|inside|for|in the|of the|里的|里面的|上的|中的|那边|s", In),
    ("mode|room|rooms|button|scene|script", Filler),
    // Asking
    ("did i leave|did we leave|have i left|did i|did we|did you|have i|have we|have you|is|are|was|were|is it|are there|is there|did|has|have|do|does|been|了吗|了么|没有|没|了没|了没有|是不是|有没有|是否|还是|还|着吗|好了吗|好了没|好了没有|着没|着没有|tell me if|check if|check whether|see if|on or off|open or closed|locked or unlocked", AskIs),
    ("吗|么", AskMa),
    ("which|what|which of|哪些|哪个|哪几个|哪几盏|哪盏|哪扇|哪里|有哪些|哪里的", AskWhich),
    ("how many|number of|几盏|多少盏|几个|多少个|几扇|多少扇|有几盏|有几个|有多少", AskCount),
    ("what is|whats|what are|what|hows|how is|how are|tell me|check|show me|what about|how about|current|多少|是多少|怎么样|怎样|如何|是什么|什么|是啥|查一下|查询|看看|告诉我|看一下|当前|是|呢|有多少|状态|状态是什么|state|status|the state of|the status of|level|值|有多|百分之多少|怎么样了", AskWhat),
    ("多少度|几度|有多热|有多冷|多热|多冷|how hot|how cold|how warm|how hot is it|how cold is it|how warm is it|多少摄氏度|是多少度|是几度|有多少度", AskMeasure(self::Measure::Temperature)),
    ("how humid|how humid is it|多潮|有多潮湿|多湿", AskMeasure(self::Measure::Humidity)),
    ("how bright|多亮|有多亮", AskMeasure(self::Measure::Brightness)),
    ("how loud|多大声|多响", AskMeasure(self::Measure::Volume)),
    ("any|anything|any of|有|任何|still|currently|有什么|正在|is on|it", Any),
    ("open|opened", State(Condition::Open)),
    ("on|turned on|switched on|running|active|亮着|亮着的|亮|运行", State(Condition::On)),
    ("开着|开着的|开|打开|打开着|打开的|没关|没有关|没关上|开了", State(Condition::OnOrOpen)),
    ("off|turned off|switched off|灭着|灭|熄灭", State(Condition::Off)),
    ("closed|shut|关紧|合上", State(Condition::Closed)),
    ("关着|关着的|关闭|关|关上|关好|关掉|关了|关上了|关好了|没开|关的", State(Condition::OffOrClosed)),
    ("locked|锁着|锁着的|锁|锁上|锁好|上锁|锁了|锁上了|锁好了|锁住", State(Condition::Locked)),
    ("unlocked|没锁|没上锁|没锁上|没有锁|没锁好|开锁", State(Condition::Unlocked)),
    ("playing|播放|在播放|正在播放|在放", State(Condition::Playing)),
    ("unavailable|offline|离线|不在线|掉线", State(Condition::Unavailable)),
    ("motion|movement|anyone|somebody|someone|anybody|occupied|presence|有人|人|有人在|有动静", Kind(Presence, Count::Open)),
    ("smoke|烟|烟雾|有烟", Kind(Smoke, Count::Open)),
    ("leak|leaking|water leak|a leak|漏水|有漏水", Kind(Leak, Count::Open)),
    ]
});
